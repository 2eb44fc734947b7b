"""Measure how the work of reading people's text grows with the text. Linear work doubles when the text doubles."""

import gc
import time
from collections.abc import Callable

# Twice, plus a third.
MOST = 2 * 4 / 3
_SIZE = 1 << 15
_TRIES = 24
# A shorter time says nothing about growth.
_NOISE_S = 0.004
# A time this long is not noise.
_ENOUGH_S = 2.0
_SIZES = 3


def assert_linear(read: Callable[[str], object], repeat: Callable[[int], str], size: int = _SIZE) -> None:
    """Assert that twice the text is at most about twice the work.

    This compares CPU time of this thread, which does not depend on other processes, without garbage collection, which
    would visit everything that other tests have left. The longer text is read first, so that cold caches can only make
    the ratio larger. A ratio above the bound is measured again, and must also be above it at two and four times the
    size: another process can empty the processor's caches for a while, but superlinear work shows at every size.

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
