"""For load balancers and operators: does the process live, and can it grade?"""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from app.errors import NotReady
from app.problem_json import problem_responses
from app.queue.protocol import GradeQueue
from app.queue.walls import Walls

router = APIRouter(tags=["health"])


class HealthJSON(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]


class ReadyJSON(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"status": "ready", "problems": 1, "queued": 0, "running": 2}]}
    )

    status: Literal["ready"]
    problems: int
    queued: int
    running: int


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
    return ReadyJSON(status="ready", problems=problems, queued=stats.queued, running=stats.running)
