"""Compute what only explains a verdict, so that an error there never changes the verdict."""

import logging
from collections.abc import Callable
from typing import TypeVar

from grader.core.errors import Cancelled

log = logging.getLogger("meshgrade.judge")
T = TypeVar("T")


def explanation(what: str, find: Callable[[], T | None]) -> T | None:
    """Return what `find` returns, or None if it fails.

    Args:
      what: names it in the log, as in `misconception of fsdp_step`.
    Raises:
      Cancelled: the caller stopped the grading.
    """
    try:
        return find()
    except Cancelled:
        raise
    except Exception:
        # Any error: the verdict is decided, and must not be lost with its explanation.
        log.exception("%s: left out of the verdict", what)
        return None
