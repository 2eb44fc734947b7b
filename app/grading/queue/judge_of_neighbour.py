"""What a process that does not grade knows of the judge in the first process beside it, and asks of it."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.core.background_loop import Loop
from app.core.neighbours import Neighbours
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.preparation import Preparation
from app.grading.queue.walls import Walls
from grader.package.package import Package
from grader.package.variants import of_variant
from grader.sandbox.retry_backoff import Setback

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

_OPENED = "a problem was opened"
_STATE = "state of the judge"
_AGAIN_S = 2.0
# After this time, the first process no longer says anything.
_OLD_S = 10.0
_MAX_WHY = 500


class JudgeOfNeighbour:
    """Belongs to one event loop. What it returns is a few seconds old, and None if nothing was heard for ten seconds.

    Args:
      walls: of this process, which refuses work while walls of the first process are missing.
    """

    def __init__(self, neighbours: Neighbours, walls: Walls) -> None:
        self._neighbours = neighbours
        self._walls = walls
        self._heard_at = -math.inf
        self._preparation: Preparation | None = None
        self._pool: PoolStats | None = None
        neighbours.on(_STATE, self._receive)

    def as_local(self) -> LocalJudge:
        return LocalJudge(self.warm, self.preparation, self.pool_stats, is_here=False)

    def warm(self, package: Package) -> None:
        self._neighbours.send(_OPENED, version=package.version, variant=package.variant_name)

    def preparation(self) -> Preparation | None:
        return self._preparation if self._is_recent() else None

    def pool_stats(self) -> "PoolStats | None":
        return self._pool if self._is_recent() else None

    def _is_recent(self) -> bool:
        return time.monotonic() - self._heard_at < _OLD_S

    def _receive(self, message: Mapping[str, Any]) -> None:
        # Imported when there is a judge: a server without one needs no pool.
        from grader.sandbox.pool import PoolStats

        pool, preparation = message["pool"], message["preparation"]
        self._pool = pool and PoolStats(**pool | {"pids": (), "setbacks": _read(pool["setbacks"])})
        self._preparation = preparation and Preparation(
            **preparation | {"ready": frozenset(preparation["ready"]), "setbacks": _read(preparation["setbacks"])}
        )
        self._walls.adopt(message["walls"], message["missing"])
        self._heard_at = time.monotonic()


def serve_neighbours(
    neighbours: Neighbours, judge: LocalJudge, walls: Walls, find: Callable[[str], Package | None]
) -> Loop:
    """Prepare runners for what is opened in neighbours, and return the loop that tells them the state of this judge.

    Args:
      find: returns a package by its version.
    """

    def warm(message: Mapping[str, Any]) -> None:
        if package := find(message["version"]):
            judge.warm(of_variant(package, message["variant"]) if message["variant"] else package)

    async def tell() -> None:
        if not neighbours.are_there:
            return
        pool, preparation = judge.pool_stats(), judge.preparation()
        neighbours.send(
            _STATE,
            walls=walls.states,
            missing=walls.missing,
            pool=pool and asdict(pool) | {"pids": (), "setbacks": _written(pool.setbacks)},
            preparation=preparation
            and asdict(preparation) | {"ready": sorted(preparation.ready), "setbacks": _written(preparation.setbacks)},
        )

    neighbours.on(_OPENED, warm)
    return Loop("telling neighbours the state of the judge", tell, _AGAIN_S)


def _written(setbacks: tuple[Setback, ...]) -> list[dict[str, Any]]:
    return [asdict(each) | {"why": each.why[:_MAX_WHY]} for each in setbacks]


def _read(setbacks: list[dict[str, Any]]) -> tuple[Setback, ...]:
    return tuple(Setback(**each) for each in setbacks)
