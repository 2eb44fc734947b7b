"""For load balancers and operators: does the process live, and can it grade?"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from pydantic.config import JsonDict

from app.errors import NotReady
from app.queue.protocol import GradeQueue
from app.queue.walls import Walls
from app.rest.problem_json import problem_responses

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

router = APIRouter(tags=["health"])


class HealthJSON(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]


class PoolJSON(BaseModel):
    """Runners that wait for a submission: `warm` for a version of a problem, `generic` for any; `zygotes` so far."""

    model_config = ConfigDict(extra="forbid")

    alive: bool
    generic: int
    warm: dict[str, int]
    zygotes: int


_EXAMPLE_READY: JsonDict = {
    "status": "ready",
    "problems": 1,
    "queued": 0,
    "running": 2,
    "pool": {"alive": True, "generic": 1, "warm": {"3f5c…": 2}, "zygotes": 1},
}


class ReadyJSON(BaseModel):
    """`pool` is null where runners are not kept waiting."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE_READY]})

    status: Literal["ready"]
    problems: int
    queued: int
    running: int
    pool: PoolJSON | None


@router.get("/healthz", summary="The process answers")
async def healthz() -> HealthJSON:
    return HealthJSON(status="ok")


@router.get("/readyz", summary="The database answers and every wall stands", responses=problem_responses(503))
async def readyz(request: Request) -> ReadyJSON:
    walls: Walls = request.app.state.walls
    queue: GradeQueue = request.app.state.queue
    walls.require()
    if not walls.probed:
        raise NotReady("The walls of the sandbox are being proved.", headers={"Retry-After": "2"})
    stats = await queue.stats()
    problems = len(request.app.state.catalogue.all())
    return ReadyJSON(status="ready", problems=problems, queued=stats.queued, running=stats.running, pool=_pool(request))


def _pool(request: Request) -> PoolJSON | None:
    # Set by app/main.py for a grader that has a pool; one that executes nothing has none.
    pool_stats: Callable[[], PoolStats] | None = getattr(request.app.state, "pool_stats", None)
    if pool_stats is None:
        return None
    pool = pool_stats()
    return PoolJSON(alive=pool.alive, generic=pool.generic, warm=pool.warm, zygotes=pool.zygotes)
