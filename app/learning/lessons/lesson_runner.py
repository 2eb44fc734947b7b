"""Runs the programs of lessons in the sandbox, and compiles the functions in them that a lesson names. They wait in the
same queue as submissions.
"""

from app.grading.queue.jobs import Job, Jobs
from app.grading.queue.protocol import Grader
from app.learning.lessons.compiled import Compiled, compiled
from app.learning.lessons.models import LessonRunRow
from grader.core.context import Context
from grader.core.errors import SubmissionFault
from grader.explorer.description import explored, fault_of
from grader.explorer.exploration import Explored, ExploredFault
from grader.explorer.script import Printed, ScriptFault
from grader.inputs.explored_function import Function

_FAILED = "The grader failed; your program is not at fault. Run it again."


class LessonRunner:
    """Runs what was requested: `jobs`."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self.jobs = [Jobs(LessonRunRow, self._run)]

    async def _run(self, job: Job[LessonRunRow]) -> None:
        if job.is_given_up:
            given_up = _failed(f"The grader died {job.deaths} times while it ran this program.")
            await job.finish(result=given_up.model_dump(mode="json"))
            return
        source, context = job.row.source, job.context
        # None if the lease was lost, because the run was stopped.
        result = await job.call(lambda: self._grader.run_script(source, context), lambda _: _failed(_FAILED))
        if result is None:
            return
        found: Compiled | None = None
        if job.row.function is not None and result.fault is None:
            function = Function.model_validate(job.row.function)
            seen = await job.call(lambda: self._compile(function, source, context), _not_compiled)
            if seen is None:
                return
            found = compiled(function, seen)
        values = {} if found is None else {"compiled": found.model_dump(mode="json")}
        await job.finish(result=result.model_dump(mode="json"), **values)

    def _compile(self, function: Function, source: str, context: Context) -> Explored:
        try:
            return explored(self._grader.inspect_function(function, source, context))
        except SubmissionFault as fault:
            return fault_of(fault, "source")


def _not_compiled(error: Exception) -> Explored:
    return Explored(fault=ExploredFault(of="source", reason=None, message=_FAILED, line=None))


def _failed(message: str) -> Printed:
    return Printed(fault=ScriptFault(reason=None, message=message))
