"""Runs the programs of lessons in the sandbox. They wait in the same line as submissions."""

import logging

from app.database import Database
from app.lessons.models import LessonRunRow
from app.queue.jobs import Job, Jobs
from app.queue.protocol import Grader
from app.queue.walls import Walls
from grader.context import Context
from grader.errors import Cancelled, WallMissing
from grader.script import Printed, ScriptFault

log = logging.getLogger(__name__)
_FAILED = "The grader failed. Nothing is wrong with your program. Run it again."


class LessonRunner:
    """Runs what was requested: `jobs`.

    Args:
      max_deaths: a run is given up after this many processes died during it.
    """

    def __init__(
        self,
        database: Database,
        grader: Grader,
        walls: Walls,
        *,
        lease_s: float,
        max_deaths: int,
    ) -> None:
        self._grader = grader
        self._max_deaths = max_deaths
        self.jobs = [Jobs(LessonRunRow, database, walls, self._run, lease_s=lease_s)]

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
