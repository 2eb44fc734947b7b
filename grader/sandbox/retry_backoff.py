"""Track work that failed and will be retried, after a longer wait each time."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_FIRST_PAUSE_S, _FACTOR = 15.0, 4.0
_MAX_WHY = 300


@dataclass(frozen=True, slots=True)
class Setback:
    """`name` failed `failures` times in a row, last because of `why`. The next try is due in `again_in_s` seconds."""

    name: str
    failures: int
    why: str
    again_in_s: float


class RetryBackoff:
    """Records failures by name, and says when the next try is due. Threads may share one.

    Args:
      clock: monotonic, in seconds.
      longest_pause_s: the longest pause between two tries.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, longest_pause_s: float = 1800.0) -> None:
        self._clock = clock
        self._longest_pause_s = longest_pause_s
        self._lock = threading.Lock()
        self._by_name: dict[str, tuple[int, str, float]] = {}

    def failed(self, name: str, why: str) -> Setback:
        """Record a failure. The next try is due after 15 s at first, and at most after the longest pause."""
        with self._lock:
            failures = self._by_name.get(name, (0, "", 0.0))[0] + 1
            pause_s = min(self._longest_pause_s, _FIRST_PAUSE_S * _FACTOR ** min(failures - 1, 8))
            self._by_name[name] = failures, why[:_MAX_WHY], self._clock() + pause_s
            return Setback(name, failures, why[:_MAX_WHY], pause_s)

    def succeeded(self, name: str) -> None:
        with self._lock:
            self._by_name.pop(name, None)

    def is_due(self, name: str) -> bool:
        """Whether a try is due. It always is if the work has not failed."""
        with self._lock:
            return name not in self._by_name or self._by_name[name][2] <= self._clock()

    def of(self, name: str) -> Setback | None:
        """The setback of this name; None if it has not failed since it last succeeded."""
        return next((each for each in self.all() if each.name == name), None)

    def all(self) -> tuple[Setback, ...]:
        """All setbacks, in the order of their first failures."""
        with self._lock:
            now = self._clock()
            return tuple(
                Setback(name, failures, why, max(0.0, again - now))
                for name, (failures, why, again) in self._by_name.items()
            )
