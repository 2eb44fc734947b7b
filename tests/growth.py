"""How the work of a reader of people's text grows with the text. Linear work doubles when the text does."""

import time
from collections.abc import Callable

# Twice, give or take a third.
MOST = 2 * 4 / 3
_SIZE = 1 << 15
_TRIES = 24
# What is as short as this says nothing about growth.
_NOISE_S = 0.004


def assert_linear(read: Callable[[str], object], repeat: Callable[[int], str], size: int = _SIZE) -> None:
    """Assert that twice the text is at most about twice the work.

    The CPU time of this thread is compared, which does not wait for other processes. The longer text is read first, so
    that cold caches make a ratio larger, never smaller. A ratio above the bound is measured again before it counts,
    because another process may have emptied the processor's caches.

    Args:
      read: what reads the text.
      repeat: makes the worst text known of a number of characters.
      size: of the longer text.
    """
    half, whole = repeat(size // 2), repeat(size)
    shorter = longer = float("inf")
    for _ in range(_TRIES):
        longer = min(longer, _seconds(read, whole))
        shorter = min(shorter, _seconds(read, half), _seconds(read, half))
        if longer <= MOST * shorter + _NOISE_S:
            return
    raise AssertionError(f"{len(whole):,} characters take {longer:.3f} s, and half as many {shorter:.3f} s")


def _seconds(read: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    read(text)
    return time.thread_time() - start
