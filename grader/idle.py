"""Background work gives way to submissions: it waits here until none is being graded."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.context import Stop

# A queue hands out its next submission within this time, if it has one.
_BETWEEN_TWO_S = 0.2
_LOOK_S = 0.05


class Idle:
    """Counts the work that someone waits for. Threads may share one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = 0
        self._since = time.monotonic() - _BETWEEN_TWO_S

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Someone waits for the work inside this block."""
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
        """Wait until no one has waited for anything for a moment, or `stop` is set. Returns the seconds waited."""
        started = time.monotonic()
        with self._changed:
            while not stop.is_set() and (self._busy or time.monotonic() - self._since < _BETWEEN_TWO_S):
                self._changed.wait(_LOOK_S)
        return time.monotonic() - started
