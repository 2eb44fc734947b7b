"""How the work of a reader of people's text grows with the text. Linear work doubles when the text does."""

import gc
import time
from collections.abc import Callable

# Twice, give or take a third.
MOST = 2 * 4 / 3
_SIZE = 1 << 15
_TRIES = 24
# What is as short as this says nothing about growth.
_NOISE_S = 0.004
# What takes as long as this is not noise.
_ENOUGH_S = 2.0
_SIZES = 3


def assert_linear(read: Callable[[str], object], repeat: Callable[[int], str], size: int = _SIZE) -> None:
    """Assert that twice the text is at most about twice the work.

    The CPU time of this thread is compared, which does not wait for other processes, and without garbage collection,
    which looks at all that other tests have left. The longer text is read first, so that cold caches make a ratio
    larger, never smaller. A ratio above the bound is measured again before it counts, and must be above it for twice
    and four times the size too: another process can empty the processor's caches for a while, but what grows faster
    than its text does so at every size.

    Args:
      read: what reads the text.
      repeat: makes the worst text known of a number of characters.
      size: of the longer text.
    """
    for _ in range(_SIZES):
        half, whole = repeat(size // 2), repeat(size)
        shorter, longer = _shortest(read, half, whole)
        if _is_linear(shorter, longer):
            return
        size *= 2
    raise AssertionError(f"{len(whole):,} characters take {longer:.3f} s, and half as many {shorter:.3f} s")


def _is_linear(shorter: float, longer: float) -> bool:
    return longer <= MOST * shorter + _NOISE_S


def _shortest(read: Callable[[str], object], half: str, whole: str) -> tuple[float, float]:
    """The seconds for each text: the least of several measurements, which end as soon as the ratio is within bounds."""
    shorter = longer = float("inf")
    for _ in range(_TRIES):
        longer = min(longer, _seconds(read, whole))
        shorter = min(shorter, _seconds(read, half), _seconds(read, half))
        if _is_linear(shorter, longer) or longer > _ENOUGH_S:
            break
    return shorter, longer


def _seconds(read: Callable[[str], object], text: str) -> float:
    collects = gc.isenabled()
    gc.disable()
    try:
        start = time.thread_time()
        read(text)
        return time.thread_time() - start
    finally:
        if collects:
            gc.enable()
