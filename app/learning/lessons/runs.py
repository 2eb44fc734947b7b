"""Runs of the programs in lessons: a reader requests one, and reads what it printed.
app/learning/lessons/lesson_runner.py runs them.

A reader has at most one run of each program, the latest. It is deleted after a day.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, cast

from sqlalchemy import ColumnElement, delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.errors import NotSignedIn
from app.core.ids import is_id, new_id
from app.grading.attempts.source_rules import check_source
from app.grading.guests import admit_guest, share_of
from app.grading.queue.fair_share import close_up, line_up
from app.grading.queue.protocol import Enqueue
from app.learning.lessons.compiled import Compiled
from app.learning.lessons.errors import LessonProgramNotFound, LessonRunNotFound, TooManyLessonRuns
from app.learning.lessons.lesson import Block, Lesson
from app.learning.lessons.models import LessonRunRow
from grader.explorer.script import Printed

LessonRunStatus = Literal["queued", "running", "finished"]
_STORED_FOR = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LessonRunLimits:
    max_source_bytes: int
    guest_runs_per_address: int = 0
    guest_runs_in_total: int = 0


@dataclass(frozen=True, slots=True)
class LessonRun:
    """One run of a program, which is numbered from 1. `result` is None until it has finished, and `compiled` unless the
    lesson names a function of the program and the program ran to its end.
    """

    id: str
    lesson: str
    program: int
    source: str
    status: LessonRunStatus
    result: Printed | None
    compiled: Compiled | None
    created_at: datetime
    finished_at: datetime | None


class LessonRuns:
    """Safe to share between requests. `enqueue` is the queue's."""

    def __init__(self, database: Database, limits: LessonRunLimits, enqueue: Enqueue = line_up) -> None:
        self._database = database
        self._limits = limits
        self._enqueue = enqueue

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
        row = LessonRunRow(
            id=new_id(),
            user_id=user.id,
            share=share_of(user),
            guest=_browser(user),
            lesson=lesson.slug,
            program=program,
            source=source,
            function=None if function is None else function.model_dump(mode="json"),
            created_at=now(),
        )
        of_this = (*_of(user), LessonRunRow.lesson == lesson.slug, LessonRunRow.program == program)
        async with self._database.writing() as session:
            drop = delete(LessonRunRow).where(*of_this).returning(LessonRunRow.status)
            if "queued" in (await session.scalars(drop.execution_options(synchronize_session=False))).all():
                await close_up(session, row)
            if await session.scalar(select(exists().where(*_of(user), LessonRunRow.status != "finished"))):
                raise TooManyLessonRuns(
                    "One program runs at a time. Wait until the other one has finished, or stop it.",
                    headers={"Retry-After": "5"},
                )
            if user.guest is not None:
                per_address, in_total = self._limits.guest_runs_per_address, self._limits.guest_runs_in_total
                await admit_guest(session, user.guest, per_address=per_address, in_total=in_total)
            await self._enqueue(session, row)
            await session.flush()
            stored = _run(row)
        return stored

    async def latest(self, user: User, lesson: Lesson) -> dict[int, LessonRun]:
        """The user's run of each program of the lesson that they ran."""
        query = select(LessonRunRow).where(*_of(user), LessonRunRow.lesson == lesson.slug)
        async with self._database.reading() as session:
            rows = await session.scalars(query.order_by(LessonRunRow.created_at))
            return {row.program: _run(row) for row in rows}

    async def get(self, user: User | None, run_id: str) -> LessonRun:
        """Raises `LessonRunNotFound`, and `NotSignedIn` for anyone without an account."""
        async with self._database.reading() as session:
            return _run(await _own(session, user, run_id))

    async def remove(self, user: User, run_id: str) -> LessonRun:
        """Delete it, and return what it was. A queued or running one is stopped. Raises as `get` does."""
        async with self._database.writing() as session:
            row = await _own(session, user, run_id)
            found = _run(row)
            await session.delete(row)
            await close_up(session, row)
        return found


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


async def forget_older_lesson_runs(database: Database) -> None:
    """Delete those of users and guests that are older than a day."""
    old = LessonRunRow.created_at < now() - _STORED_FOR
    async with database.writing() as session:
        await session.execute(delete(LessonRunRow).where(old).execution_options(synchronize_session=False))


async def _own(session: AsyncSession, user: User | None, run_id: str) -> LessonRunRow:
    row = None
    if user is not None and is_id(run_id):
        row = await session.scalar(select(LessonRunRow).where(*_of(user), LessonRunRow.id == run_id))
    if row is not None:
        return row
    if user is None or user.guest is not None:
        raise NotSignedIn("This browser has sent no run with this id. If it is one of yours, sign in.")
    raise LessonRunNotFound(f"You have no run of a lesson's program with the id {run_id[:64]!r}.")


def _of(user: User) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return LessonRunRow.user_id == user.id, LessonRunRow.guest.is_not_distinct_from(_browser(user))


def _browser(user: User) -> str | None:
    return user.guest.browser if user.guest else None


def _run(row: LessonRunRow) -> LessonRun:
    return LessonRun(
        id=row.id,
        lesson=row.lesson,
        program=row.program,
        source=row.source,
        status=cast(LessonRunStatus, row.status),
        result=None if row.result is None else Printed.model_validate(row.result),
        compiled=None if row.compiled is None else Compiled.model_validate(row.compiled),
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
