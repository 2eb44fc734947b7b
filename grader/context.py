"""The context that a caller passes through the judge: where to report progress, and what stops the work."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

# Gets each phase as a short phrase, as the phase begins.
Progress = Callable[[str], None]


class Stop(Protocol):
    """Tells work to end. `threading.Event` is one."""

    def is_set(self) -> bool: ...


class _Never:
    def is_set(self) -> bool:
        return False


def _silent(phase: str) -> None:
    return None


NEVER: Stop = _Never()


@dataclass(frozen=True, slots=True)
class Context:
    """Without arguments: progress is not reported, and nothing stops the work.

    Attributes:
      progress: gets each phase as a short phrase, as the phase begins.
      stop: set it to give up. A session then ends within a tick, and the caller gets `Cancelled`.
    """

    progress: Progress = _silent
    stop: Stop = NEVER


QUIET = Context()
