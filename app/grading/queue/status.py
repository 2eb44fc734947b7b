"""The closed sets of an attempt's kinds and statuses."""

from typing import Literal

AttemptKind = Literal["attempt", "run"]
AttemptStatus = Literal["queued", "running", "finished", "cancelled"]
ENDED: frozenset[AttemptStatus] = frozenset({"finished", "cancelled"})
