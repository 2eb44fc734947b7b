"""Lets background work wait until no submission is being graded."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.core.context import Stop

# A queue with waiting submissions hands out the next one within this time.
_BETWEEN_TWO_S = 0.2
_LOOK_S = 0.05


class BackgroundGate:
    """Counts the foreground work in progress. Threads may share one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = 0
        self._since = time.monotonic() - _BETWEEN_TWO_S

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Count the work inside this block as foreground work."""
        with self._changed:
            self._busy += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1
                self._since = time.monotonic()
                self._changed.notify_all()

    def wait(self, stop: Stop) -> float:
        """Wait until foreground work has paused for a moment, or `stop` is set. Return the seconds waited."""
        started = time.monotonic()
        with self._changed:
            while not stop.is_set() and (self._busy or time.monotonic() - self._since < _BETWEEN_TWO_S):
                self._changed.wait(_LOOK_S)
        return time.monotonic() - started
