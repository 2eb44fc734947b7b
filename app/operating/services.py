"""What the routes for operators need."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.operating.metrics import Metrics
from app.operating.tally import Tally
from app.problems.services import ProblemServices
from app.queue.preparing import Preparation
from app.queue.walls import Walls
from app.web.proxies import Clients

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats


@dataclass(frozen=True, kw_only=True)
class OperatingServices(ProblemServices):
    """`pool_stats` and `preparation` are None if this process does not grade, `pool_stats` also without a pool."""

    metrics: Metrics
    tally: Tally
    walls: Walls
    clients: Clients
    pool_stats: "Callable[[], PoolStats] | None"
    preparation: Callable[[], Preparation] | None
