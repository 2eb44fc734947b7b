"""How long a verdict takes and what a submission may use, in words, for anyone who is about to send one."""

from grader.package.package import Limits


def expect_text(limits: Limits, typical_s: float | None) -> str:
    """One or two sentences. `typical_s` is how long a verdict usually takes, None if nobody knows yet."""
    most = f"Your code may use at most {_seconds(limits.time_s)} of CPU time and {_memory(limits.memory_mb)} of memory."
    return most if typical_s is None else f"A verdict takes about {_seconds(max(1.0, typical_s))}. {most}"


def _seconds(count: float) -> str:
    """Seconds up to two minutes, then minutes."""
    return f"{round(count)} s" if count < 120 else f"{round(count / 60)} min"


def _memory(mb: int) -> str:
    return f"{mb / 1024:.3g} GB" if mb >= 1024 else f"{mb} MB"
