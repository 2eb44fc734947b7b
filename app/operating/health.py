"""For load balancers and operators: whether the process is alive, and whether attempts are graded."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from pydantic.config import JsonDict

from app.errors import NotReady
from app.operating.services import OperatingServices
from app.operating.state import ALL_ONE_ADDRESS
from app.rest.problem_json import problem_responses
from app.services import services_of

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

router = APIRouter(tags=["health"])


class HealthJSON(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]


class PoolJSON(BaseModel):
    """Runners that wait for a submission: `warm` by version, `generic` for any problem; and `zygotes` so far."""

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
    "workers": 1,
    "warnings": [],
    "pool": {"alive": True, "generic": 1, "warm": {"3f5c…": 2}, "zygotes": 1},
}


class ReadyJSON(BaseModel):
    """`workers` is how many processes can grade. `pool` is null if this process has no pool of runners.

    `warnings` are in words, for operators.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE_READY]})

    status: Literal["ready"]
    problems: int
    queued: int
    running: int
    workers: int
    warnings: list[str]
    pool: PoolJSON | None


@router.get("/healthz", summary="Whether the process responds")
async def healthz() -> HealthJSON:
    return HealthJSON(status="ok")


@router.get(
    "/readyz", summary="Whether an attempt sent now would be stored and graded", responses=problem_responses(503)
)
async def readyz(request: Request) -> ReadyJSON:
    services = services_of(request, OperatingServices)
    services.walls.require()
    if not services.walls.probed:
        raise NotReady("The walls of the sandbox are being tested.", headers={"Retry-After": "2"})
    if services.workers.write_fault:
        raise NotReady(
            f"The database cannot be written ({services.workers.write_fault}). The operator can find the cause in the "
            "log.",
            headers={"Retry-After": "5"},
        )
    workers = await services.workers.connected()
    if not workers:
        raise NotReady(
            "No worker that can grade is connected. Attempts are stored and wait. Start one: ./meshgrade worker",
            headers={"Retry-After": "5"},
        )
    stats = await services.queue.stats()
    return ReadyJSON(
        status="ready",
        problems=len(services.catalogue.all()),
        queued=stats.queued,
        running=stats.running,
        workers=workers,
        warnings=[ALL_ONE_ADDRESS] if services.clients.one_address else [],
        pool=_pool(services.pool_stats),
    )


def _pool(pool_stats: "Callable[[], PoolStats] | None") -> PoolJSON | None:
    if pool_stats is None:
        return None
    pool = pool_stats()
    return PoolJSON(alive=pool.alive, generic=pool.generic, warm=pool.warm, zygotes=pool.zygotes)
