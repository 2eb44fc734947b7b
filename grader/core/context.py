"""What a caller passes through the judge: where to report progress, and how to stop the work."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

# Called with a short phrase at the start of each phase.
Progress = Callable[[str], None]


class Stop(Protocol):
    """Asks work to end, as a `threading.Event` does."""

    def is_set(self) -> bool: ...


class _Never:
    def is_set(self) -> bool:
        return False


def _silent(phase: str) -> None:
    return None


NEVER: Stop = _Never()


@dataclass(frozen=True, slots=True)
class Context:
    """Where to report progress and how to stop. By default, progress is not reported and nothing stops the work.

    Attributes:
      progress: called with a short phrase at the start of each phase.
      stop: once set, the session ends within a tick and the caller gets `Cancelled`.
    """

    progress: Progress = _silent
    stop: Stop = NEVER


QUIET = Context()
