"""The closed sets of an attempt's kinds and statuses, those of other jobs, and the place of an attempt in the queue."""

from dataclasses import dataclass
from typing import Literal

from app.core.view import View

AttemptKind = Literal["attempt", "run"]
AttemptStatus = Literal["queued", "running", "finished", "cancelled"]
JobStatus = Literal["queued", "running", "finished"]
ENDED: frozenset[AttemptStatus] = frozenset({"finished", "cancelled"})


class QueuePlace(View):
    """How many attempts are ahead, about how long they will take (null before anything was ever graded, and while
    no worker can grade), and how many workers can grade at the moment. A server that grades is one of them.
    """

    ahead: int
    expected_wait_s: int | None
    workers: int = 0


@dataclass(frozen=True, slots=True)
class Glance:
    """The status of an attempt, and its place while it is queued."""

    status: AttemptStatus
    place: QueuePlace | None
