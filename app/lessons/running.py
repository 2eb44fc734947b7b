"""Runs the programs of lessons in the sandbox, and starts none while a submission waits.

Each process that grades runs one at a time.
"""

import asyncio
import logging

from sqlalchemy import exists

from app.database import Database
from app.lessons.models import LessonRunRow
from app.queue.jobs import Job, Jobs
from app.queue.models import AttemptRow
from app.queue.protocol import Grader
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from grader.context import Context
from grader.errors import Cancelled, WallMissing
from grader.script import Printed, ScriptFault

log = logging.getLogger(__name__)
_FAILED = "The grader failed. Nothing is wrong with your program. Run it again."


class LessonRunner:
    """`run` runs what was requested until it is cancelled. It then returns a running one to the queue.

    Args:
      news: set when this process receives a request for one.
      max_deaths: a run is given up after this many processes died during it.
    """

    def __init__(
        self,
        database: Database,
        news: asyncio.Event,
        grader: Grader,
        walls: Walls,
        *,
        lease_s: float,
        max_deaths: int,
    ) -> None:
        self._grader = grader
        self._max_deaths = max_deaths
        self._jobs = Jobs(
            LessonRunRow,
            database,
            GradingThreads(1),
            news,
            walls,
            lease_s=lease_s,
            only_if=(~exists().where(AttemptRow.status == "queued"),),
            last=LessonRunRow.guest.is_not(None),
        )

    async def run(self) -> None:
        await self._jobs.run(self._run)

    async def _run(self, job: Job[LessonRunRow]) -> None:
        result: Printed | None
        if job.deaths >= self._max_deaths:
            result = _failed(f"The grader died {job.deaths} times while it ran this program.")
        else:
            source, context = job.row.source, job.context
            # None if the lease was lost, because the run was stopped.
            result = await job.call(lambda: self._print(source, context))
        if result is not None:
            await job.finish(result=result.model_dump(mode="json"))

    def _print(self, source: str, context: Context) -> Printed:
        try:
            return self._grader.run_script(source, context)
        except (Cancelled, WallMissing):
            raise
        except Exception:  # fail closed: whatever it is, there is no result, and operators read why
            log.exception("a program of a lesson could not be run")
            return _failed(_FAILED)


def _failed(message: str) -> Printed:
    return Printed(fault=ScriptFault(reason=None, message=message))
