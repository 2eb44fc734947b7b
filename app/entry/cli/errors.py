"""Errors for a terminal: one red line and what to do, without a traceback."""

import sys

from app.core.start_errors import StartRefused
from grader.core.errors import MeshgradeError

_RED, _PLAIN = "\x1b[31m", "\x1b[0m"


def explain(error: MeshgradeError) -> None:
    """Print to standard error."""
    message = f"Error: {error}"
    if sys.stderr.isatty():
        message = f"{_RED}{message}{_PLAIN}"
    print(message, file=sys.stderr)
    if isinstance(error, StartRefused):
        print(error.remedy, file=sys.stderr)
    sys.stderr.flush()
