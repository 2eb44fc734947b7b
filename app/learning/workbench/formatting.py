"""Formats Python as ruff does, with its defaults."""

import re
import subprocess

from ruff import find_ruff_bin

from app.core.bounded_calls import LimitExceeded, bounded
from app.core.errors import SourceNotFormatted
from app.grading.attempts.source_rules import check_source

_CPU_S = 2
_COMMAND = ("format", "--isolated", "--no-cache", "--stdin-filename", "submission.py", "-")
# `error: Failed to parse submission.py:3:5: Expected an expression`
_FAULT = re.compile(r"submission\.py:(\d+):\d+: (.+)")


async def format_source(source: str, max_bytes: int) -> str:
    """The source in ruff's style. Raises a `SourceRefused`; `SourceNotFormatted` if it is not Python."""
    check_source(source, max_bytes)
    try:
        found = await bounded(run_ruff, source, cpu_s=_CPU_S)
    except LimitExceeded as error:
        raise SourceNotFormatted(f"Formatting was ended because it {error}") from None
    if found["source"] is None:
        raise SourceNotFormatted(found["fault"])
    return str(found["source"])


def run_ruff(source: str) -> dict[str, str | None]:
    """The formatted source, or the fault. Called in a process whose limits ruff inherits."""
    done = subprocess.run([find_ruff_bin(), *_COMMAND], input=source, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return {"source": done.stdout, "fault": None}
    fault = _FAULT.search(done.stderr)
    words = f"Line {fault[1]}: {fault[2]}." if fault else "It is not Python that ruff can read."
    return {"source": None, "fault": words}
