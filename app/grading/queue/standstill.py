"""Why the service grades nothing, in the words that `/readyz`, *Service* and `doctor` share."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.grading.queue.workers import Worker

_START = "Start one: ./meshgrade worker"
RESTART = (
    "Restart it with the server's code: bring its checkout (git pull) or image to what the server runs, then start it "
    "again: ./meshgrade worker"
)
NOT_CONNECTED = "No worker is connected"


@dataclass(frozen=True, slots=True)
class Standstill:
    """`what` is a sentence without its full stop. `is_named` if a connected worker reports what is wrong itself."""

    what: str
    remedy: str
    is_named: bool = False


def standstill_of(processes: Sequence[Worker]) -> Standstill | None:
    """None if at least one process grades. A row that is no longer written counts as gone, whatever it says."""
    graders = [each for each in processes if each.slots]
    if any(each.can_grade for each in graders):
        return None
    live = [each for each in graders if each.is_live]
    if outdated := next((each for each in live if each.is_outdated), None):
        return Standstill(outdated_words(outdated), RESTART, is_named=True)
    if walled := next((each for each in live if each.missing), None):
        names = ", ".join(each.name for each in walled.missing)
        return Standstill(f"The worker {walled.name} lacks {_walls(names)}", walled.missing[0].remedy, is_named=True)
    if graders:
        last = min(graders, key=lambda each: each.seen_s)
        what = f"{NOT_CONNECTED}: {last.name} was last seen {ago(last.seen_s)} ago"
        return Standstill(what, "Read its log, then start it again, or another one: ./meshgrade worker")
    return Standstill(NOT_CONNECTED, _START)


def outdated_words(worker: Worker) -> str:
    """That a worker runs another grader than the server, as a sentence without its full stop."""
    return f"The worker {worker.name} is outdated and takes nothing: its grader ({worker.code}) is not the server's"


def ago(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _walls(names: str) -> str:
    return f"the walls {names}" if "," in names else f"the wall {names}"
