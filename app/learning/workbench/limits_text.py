"""How long the latest verdicts took and what a submission may use, in words, for anyone who is about to send one."""

from math import ceil

from app.grading.attempts.durations import Typical
from grader.package.package import Limits


def expect_text(limits: Limits, typical: Typical | None) -> str:
    """One or two sentences. `typical` is None if there are too few verdicts to tell."""
    most = f"Your code may use at most {_seconds(limits.time_s)} of CPU time and {_memory(limits.memory_mb)} of memory."
    if typical is None:
        return most
    took = _seconds(max(1, ceil(typical.median_s)))
    return f"Half of the last {typical.verdicts} verdicts took at most {took}. {most}"


def _seconds(count: float) -> str:
    """Seconds up to two minutes, then minutes."""
    return f"{round(count)} s" if count < 120 else f"{round(count / 60)} min"


def _memory(mb: int) -> str:
    return f"{mb / 1024:.3g} GB" if mb >= 1024 else f"{mb} MB"
