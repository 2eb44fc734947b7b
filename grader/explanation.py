"""What only explains a verdict: it may be missing, and its faults are nobody's verdict."""

import logging
from collections.abc import Callable
from typing import TypeVar

from grader.errors import Cancelled

log = logging.getLogger("meshgrade.judge")
T = TypeVar("T")


def explanation(what: str, find: Callable[[], T | None]) -> T | None:
    """Return what `find` returns, or None if it fails.

    Args:
      what: it and its problem, for the log: `misconception of fsdp_step`.
    Raises:
      Cancelled: the grading was stopped.
    """
    try:
        return find()
    except Cancelled:
        raise
    except Exception:
        # Whatever it is: the verdict is decided, and must not be lost with its explanation.
        log.exception("%s: left out of the verdict", what)
        return None
