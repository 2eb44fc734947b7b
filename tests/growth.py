"""Measure how the work of reading people's text grows with the text. Linear work doubles when the text doubles."""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Read = Callable[[str], object]
Repeat = Callable[[int], str]

# Steps for a character of the longer text, compared with the shorter one. Sorting takes a tenth longer.
MOST = 1.125
_SIZE = 1 << 12
# A few calls more or less say nothing about growth.
_SPARE_STEPS = 100
# For C code, eight times the text may take at most twice eight times as long.
_TIMES = 8
_MOST_IN_C = 2 * _TIMES
_SIZE_IN_C = 1 << 15
_TRIES = 10
_SIZES = 3
# A shorter time says nothing about growth.
_NOISE_S = 0.02
# A time this long is not noise.
_ENOUGH_S = 5.0


def assert_linear(read: Read, repeat: Repeat, size: int = _SIZE) -> None:
    """Assert that twice the text is about twice the work, counted in steps of Python: calls, lines and returns.

    The count is the same on any machine and under any load. What C code does in one call, such as a regular expression,
    is one step: see `assert_linear_in_c`.

    Args:
      read: what reads the text.
      repeat: makes the worst text known of about a number of characters.
      size: the size of the longer text.
    """
    # Read a short text first, to fill caches, such as those of regular expressions, and run imports on first use.
    read(repeat(size // 4))
    half, whole = repeat(size // 2), repeat(size)
    fewer, more = steps(read, half), steps(read, whole)
    if more > MOST * fewer * len(whole) / len(half) + _SPARE_STEPS:
        raise AssertionError(f"{len(whole):,} characters take {more:,} steps, and {len(half):,} take {fewer:,}")


def assert_linear_in_c(read: Read, repeat: Repeat, size: int = _SIZE_IN_C) -> None:
    """Assert that eight times the text is at most about eight times the work, if C code does it.

    C code has no steps to count, so this compares CPU time of this thread. Quadratic work takes 64 times as long, and
    the bound is 16 times. The longer text is read first, so that cold caches can only make the ratio larger. A ratio
    above the bound is measured again, and must also be above it at two and four times the size. Mark the test `serial`.
    """
    for _ in range(_SIZES):
        short, long = repeat(size // _TIMES), repeat(size)
        shorter = longer = float("inf")
        for _ in range(_TRIES):
            longer = min(longer, _seconds(read, long))
            shorter = min(shorter, _seconds(read, short))
            if _is_linear(shorter, longer) or longer > _ENOUGH_S:
                break
        if _is_linear(shorter, longer):
            return
        size *= 2
    raise AssertionError(
        f"{len(long):,} characters take {longer:.3f} s of CPU time, and {len(short):,} take {shorter:.3f} s"
    )


def steps(read: Read, text: str) -> int:
    """The calls, lines and returns of Python while the text is read."""
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> Callable[..., object]:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    with _no_collection():
        sys.settrace(step)
        try:
            read(text)
        finally:
            sys.settrace(before)
    return count


def _is_linear(shorter: float, longer: float) -> bool:
    return longer <= _MOST_IN_C * shorter + _NOISE_S


def _seconds(read: Read, text: str) -> float:
    with _no_collection():
        start = time.thread_time()
        read(text)
        return time.thread_time() - start


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switch off garbage collection, which would visit everything that other tests have left and run its finalizers."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
