"""The closed sets of words for where an attempt is."""

from typing import Literal

AttemptKind = Literal["attempt", "run"]
AttemptStatus = Literal["queued", "running", "finished", "cancelled"]
ENDED: frozenset[AttemptStatus] = frozenset({"finished", "cancelled"})
