"""Runs the programs of lessons in the sandbox. They wait in the same queue as submissions."""

from app.grading.queue.jobs import Job, Jobs
from app.grading.queue.protocol import Grader
from app.learning.lessons.models import LessonRunRow
from grader.explorer.script import Printed, ScriptFault

_FAILED = "The grader failed; your program is not at fault. Run it again."


class LessonRunner:
    """Runs what was requested: `jobs`."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self.jobs = [Jobs(LessonRunRow, self._run)]

    async def _run(self, job: Job[LessonRunRow]) -> None:
        result: Printed | None
        if job.is_given_up:
            result = _failed(f"The grader died {job.deaths} times while it ran this program.")
        else:
            source, context = job.row.source, job.context
            # None if the lease was lost, because the run was stopped.
            result = await job.call(lambda: self._grader.run_script(source, context), lambda _: _failed(_FAILED))
        if result is not None:
            await job.finish(result=result.model_dump(mode="json"))


def _failed(message: str) -> Printed:
    return Printed(fault=ScriptFault(reason=None, message=message))
