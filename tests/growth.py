"""How the work of a reader of people's text grows with the text. Linear work doubles when the text does."""

import time
from collections.abc import Callable

# Twice, give or take a third.
MOST = 2 * 4 / 3
_LEAST_S = 0.02
_TRIES = 6


def assert_linear(read: Callable[[str], object], repeat: Callable[[int], str], most: int) -> None:
    """Assert that twice the text is at most about twice the work, up to the longest permitted text.

    The CPU time of this thread is compared, the shortest of several tries: it does not wait for other processes. What a
    cache of the processor adds is neither. So a ratio above the bound is measured again before it counts.

    Args:
      read: what reads the text.
      repeat: makes the worst text known of a number of characters.
      most: how long a text may be.
    """
    size = 512
    while size * 2 <= most and _seconds(read, repeat(size)) < _LEAST_S:
        size *= 2
    for _ in range(_TRIES):
        half, whole = (min(_seconds(read, text) for _ in range(3)) for text in (repeat(size // 2), repeat(size)))
        if whole <= MOST * half + _LEAST_S / 4:
            return
    raise AssertionError(f"{size:,} characters take {whole:.3f} s, and half as many {half:.3f} s")


def _seconds(read: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    read(text)
    return time.thread_time() - start
