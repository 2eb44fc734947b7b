"""Formats Python as ruff does, with its defaults."""

import re
import signal
import subprocess
from typing import Any

from ruff import find_ruff_bin

from app.core.bounded_calls import LimitExceeded, Processes
from app.core.errors import FormattingBusy, SourceNotFormatted, TooManyToFormat
from app.core.limits import retry_after
from app.grading.attempts.source_rules import check_source

_WALL_S = 2
# The process that waits for ruff takes next to none.
_CPU_S = 4
# With these, the last one waits for 20 s.
_MOST_WAITING = 10
_COMMAND = ("format", "--isolated", "--no-cache", "--stdin-filename", "submission.py", "-")
# `error: Failed to parse submission.py:3:5: Expected an expression`
_FAULT = re.compile(r"submission\.py:(\d+):\d+: (.+)")
_INSTEAD = "To format it anyway, run ruff format on your machine."


# Shared with nothing else.
FORMATTING = Processes(1, "formatting")


class Formatter:
    """Formats one source at a time, in a process that serves nothing else. Belongs to one event loop."""

    def __init__(self) -> None:
        # Whose sources are being formatted or wait.
        self._askers: set[str] = set()

    async def format(self, source: str, max_bytes: int, asker: str) -> str:
        """The source in ruff's style.

        Args:
          asker: an account or an address. Each may wait for one source.
        Raises:
          SourceRefused: it cannot be formatted, and a `SourceNotFormatted` says why.
          TooManyToFormat, FormattingBusy: it was not tried.
        """
        check_source(source, max_bytes)
        again = retry_after(_WALL_S)
        if asker in self._askers:
            raise TooManyToFormat(
                f"A source of yours, or of your network, is being formatted. Try again in {_WALL_S} s.", headers=again
            )
        if len(self._askers) >= _MOST_WAITING:
            raise FormattingBusy(
                f"{_MOST_WAITING} sources wait to be formatted. Try again in {_WALL_S} s. {_INSTEAD}", headers=again
            )
        self._askers.add(asker)
        try:
            found = await FORMATTING.call(run_ruff, source, _WALL_S, cpu_s=_CPU_S)
        except LimitExceeded as error:
            raise SourceNotFormatted(f"Formatting was ended because it {error}. {_INSTEAD}") from None
        finally:
            self._askers.discard(asker)
        if found["source"] is None:
            raise SourceNotFormatted(found["fault"])
        return str(found["source"])


def run_ruff(source: str, wall_s: float) -> dict[str, str | None]:
    """The formatted source, or the fault. Called in a process whose limits ruff inherits."""
    options: dict[str, Any] = {"input": source, "capture_output": True, "text": True, "check": False}
    try:
        done = subprocess.run([find_ruff_bin(), *_COMMAND], timeout=wall_s, **options)
    except subprocess.TimeoutExpired:
        return _fault(f"Ruff takes longer than {wall_s:g} s to format this source. {_INSTEAD}")
    if done.returncode == 0:
        return {"source": done.stdout, "fault": None}
    if done.returncode == -signal.SIGXCPU:
        return _fault(f"Ruff takes too much time to format this source. {_INSTEAD}")
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return _fault(f"Ruff ended with {name} at this source: it is nested too deeply, or needs too much memory.")
    if found := _FAULT.search(done.stderr):
        return _fault(f"Line {found[1]}: {found[2]}.")
    return _fault("It is not Python that ruff can read.")


def _fault(words: str) -> dict[str, str | None]:
    return {"source": None, "fault": words}
