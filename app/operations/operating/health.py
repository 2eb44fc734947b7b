"""For load balancers and operators: whether the process is alive, and whether attempts are graded."""

from typing import TYPE_CHECKING, Literal

from app.core.errors import NotReady
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.core.view import View
from app.core.web.proxies import Clients
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.standstill import standstill_of
from app.grading.queue.walls import Walls
from app.grading.queue.workers import Worker, Workers
from app.operations.operating.service_state import ALL_ONE_ADDRESS
from app.problems.catalogue import Catalogue

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

router = RestRouter("health", is_versioned=False, is_counted=False)


class HealthJSON(View):
    status: Literal["ok"]


class PoolJSON(View):
    """Idle runners: `warm` by version, `generic` for any problem; and `zygotes` so far."""

    alive: bool
    generic: int
    warm: dict[str, int]
    zygotes: int


class ReadyJSON(View):
    """`workers` is how many processes can grade. `pool` is null if this process has no pool of runners.

    `warnings` are in words, for operators.
    """

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
async def readyz(
    walls: Provided[Walls],
    workers: Provided[Workers],
    queue: Provided[GradeQueue],
    catalogue: Provided[Catalogue],
    clients: Provided[Clients],
    judge: Provided[LocalJudge],
) -> ReadyJSON:
    walls.require()
    if not walls.probed:
        raise NotReady("The walls of the sandbox are being tested.", headers={"Retry-After": "2"})
    if workers.write_fault:
        raise NotReady(
            f"The database cannot be written: {workers.write_fault}. The log has the whole error.",
            headers={"Retry-After": "5"},
        )
    connected = await workers.connected()
    if not connected:
        raise NotReady(_why_waiting(await workers.known()), headers={"Retry-After": "5"})
    stats = await queue.stats()
    return ReadyJSON(
        status="ready",
        problems=len(catalogue.all()),
        queued=stats.queued,
        running=stats.running,
        workers=connected,
        warnings=[ALL_ONE_ADDRESS] if clients.one_address else [],
        pool=_pool(judge.pool_stats()),
    )


def _why_waiting(processes: list[Worker]) -> str:
    standstill = standstill_of(processes)
    waits = "No worker that can grade is connected, so attempts wait in the queue."
    # One that has begun to grade since they were counted.
    return waits if standstill is None else f"{waits} {standstill.what}. {standstill.remedy}"


def _pool(pool: "PoolStats | None") -> PoolJSON | None:
    if pool is None:
        return None
    return PoolJSON.of(pool)
