"""Give memory that is no longer used back to the system."""

import ctypes


def trim() -> None:
    """Python's many small objects leave holes in glibc's heap, which it does not give back by itself.

    Source: https://man7.org/linux/man-pages/man3/malloc_trim.3.html
    """
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    # Other C libraries have none.
    if malloc_trim is not None:
        malloc_trim(0)
