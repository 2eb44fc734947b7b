"""Runs of the programs in lessons: a reader requests one, and reads what it printed.
app/learning/lessons/lesson_runner.py runs them.

A reader has at most one run of each program, the latest. It is deleted after a day.
"""

from datetime import datetime

from sqlalchemy import select

from app.accounts.caller import User
from app.core.view import View
from app.grading.attempts.source_rules import check_source
from app.grading.owned_work import UsersJobs
from app.grading.queue.status import JobStatus
from app.learning.lessons.compiled import Compiled
from app.learning.lessons.errors import LessonProgramNotFound, LessonRunNotFound, TooManyLessonRuns
from app.learning.lessons.lesson import Block, Lesson
from app.learning.lessons.models import LessonRunRow
from grader.explorer.script import Printed


class LessonRun(View):
    """One run of a program, which is numbered from 1. `result` is null until it has finished, and `compiled` unless the
    lesson names a function of the program and the program ran to its end.
    """

    id: str
    lesson: str
    program: int
    status: JobStatus
    source: str
    result: Printed | None
    compiled: Compiled | None
    created_at: datetime
    finished_at: datetime | None

    @property
    def phase(self) -> None:
        """Is not stored: only the events of a run have its phases."""


class LessonRuns(UsersJobs[LessonRunRow, LessonRun]):
    """One program of a user runs at a time."""

    rows = LessonRunRow
    most_unfinished = 1
    too_many = TooManyLessonRuns
    unknown_here = "This browser has sent no run with this id. If it is one of yours, sign in."

    def view(self, row: LessonRunRow) -> LessonRun:
        return LessonRun.of(row)

    def not_found(self, work_id: str) -> LessonRunNotFound:
        return LessonRunNotFound(f"You have no run of a lesson's program with the id {work_id!r}.")

    def too_many_because(self, user: User, unfinished: int) -> str:
        return "One program runs at a time. Wait until the other one has finished, or stop it."

    async def request(self, user: User, lesson: Lesson, program: int, source: str) -> LessonRun:
        """Queue a run. It replaces the user's earlier one of this program, which is stopped if it has not finished.

        Raises:
          LessonProgramNotFound.
          SourceRefused: the source cannot be stored or run.
          TooManyLessonRuns: another program of the user's has not finished. TooManyGuestRuns.
        """
        program_of(lesson, program)
        function = next((each.function for each in lesson.explorable if each.program == program), None)
        check_source(source, self._limits.max_source_bytes)
        row = self._new(
            user,
            lesson=lesson.slug,
            program=program,
            source=source,
            function=None if function is None else function.model_dump(mode="json"),
        )
        of_this = (LessonRunRow.lesson == lesson.slug, LessonRunRow.program == program)
        async with self._database.writing() as session:
            await self._replace(session, user, row, *of_this)
            await self._admit(session, user)
            await self._enqueue(session, row)
            await session.flush()
            return self.view(row)

    async def latest(self, user: User, lesson: Lesson) -> dict[int, LessonRun]:
        """The user's run of each program of the lesson that they ran."""
        query = select(LessonRunRow).where(*self.owned_by(user), LessonRunRow.lesson == lesson.slug)
        async with self._database.reading() as session:
            rows = await session.scalars(query.order_by(LessonRunRow.created_at))
            return {row.program: self.view(row) for row in rows}


def program_of(lesson: Lesson, number: int) -> Block:
    """Raises `LessonProgramNotFound`."""
    if not 1 <= number <= len(lesson.blocks):
        programs = f"has programs 1 to {len(lesson.blocks)}" if lesson.blocks else "has no program"
        raise LessonProgramNotFound(f"The lesson {lesson.slug!r} {programs}.")
    block = lesson.blocks[number - 1]
    if not block.runs_here:
        raise LessonProgramNotFound(
            f"Program {number} of the lesson {lesson.slug!r} needs what the sandbox denies. Run it on your own "
            "machine, for example in the lesson's notebook."
        )
    return block


def prints_the_same(result: Printed, block: Block) -> bool | None:
    """Whether a program that ran to its end prints what the lesson shows. None if the lesson shows no output."""
    if result.fault is not None or not block.output:
        return None
    return not result.truncated and result.stdout.rstrip() == block.output.rstrip()
