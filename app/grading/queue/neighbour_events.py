"""Events across the API processes of one machine, without PostgreSQL."""

from collections.abc import Mapping
from typing import Any

from app.core.neighbours import Neighbours
from app.grading.queue.events import Change, WorkEvents

_TOPIC = "change of work"
_MAX_PHASE = 200


class NeighbourEvents(WorkEvents):
    """`WorkEvents` that also reach the other processes of this machine."""

    def __init__(self, neighbours: Neighbours) -> None:
        super().__init__()
        self._neighbours = neighbours
        neighbours.on(_TOPIC, self._receive)

    def send(self, work_id: str, change: Change) -> None:
        super().send(work_id, change)
        phase = None if change.phase is None else change.phase[:_MAX_PHASE]
        partial = change.partial
        self._neighbours.send(_TOPIC, id=work_id, status=change.status, phase=phase, partial=partial)

    def _receive(self, message: Mapping[str, Any]) -> None:
        self.deliver(message["id"], Change(message["status"], message["phase"], message["partial"]))
