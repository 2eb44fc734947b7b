"""Students start exams that have a time of their own, a password or networks: the only writer of that table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select

from app.accounts.caller import User
from app.accounts.passwords import Passwords
from app.accounts.sign_in_throttle import Throttle
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import RoleMissing
from app.core.view import View
from app.problems.viewer import viewer
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.errors import ExamPasswordWrong, ExamTimeOver, NothingToStart
from app.teaching.courses.exam_access import ends_at, require_address
from app.teaching.courses.models import ExamStartRow, ExtensionRow, MemberRow
from app.teaching.courses.service import Assignment, Course, no_assignment
from app.teaching.courses.student_dates import dates_in_section, last_deadline

_TOO_MANY_PASSWORDS = (
    "Too many wrong passwords were sent from your address. Ask for the password, and try again in {wait}."
)


class ExamStart(View):
    """`started_at` is null until you start, and so is `ends_at`, the first moment that is too late."""

    started_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Sitting:
    """`opens_at` and `due_at` are those of the student's section."""

    opens_at: datetime
    due_at: datetime
    extra_minutes: int
    started_at: datetime | None


class ExamStarts:
    """Safe to share between requests. The routes check that the caller is in the course."""

    def __init__(self, database: Database, passwords: Passwords, throttle: Throttle) -> None:
        self._database = database
        self._passwords = passwords
        self._throttle = throttle

    async def of(self, user: User, assignment: Assignment) -> ExamStart:
        sitting = await self._sitting(user, assignment)
        return _view(assignment, sitting)

    async def started(self, user: User) -> dict[str, datetime]:
        """When the user started each exam, by its id."""
        query = select(ExamStartRow.assignment_id, ExamStartRow.started_at).where(ExamStartRow.user_id == user.id)
        async with self._database.reading() as session:
            return {assignment_id: at for assignment_id, at in await session.execute(query)}

    async def shown_to(self, user: User, course: Course, assignments: Sequence[Assignment]) -> list[Assignment]:
        """These assignments as a member of the course sees them: a student must start an exam to see its problems,
        until it has closed for everyone. Of each pool, students see the problem that they got. Their dates are those of
        the assignment: `SectionDates` replaces them.
        """
        if course.is_taught:
            return list(assignments)
        moment = now()
        async with self._database.reading() as session:
            member = await session.get(MemberRow, (course.id, user.id))
            if member is None or member.role != "student":
                return list(assignments)
            closed = {
                each.id
                for each in assignments
                if each.needs_start and is_over(await last_deadline(session, each.id, each.due_at), moment)
            }
        begun = set(await self.started(user))
        return [
            replace(
                each, problems=() if each.needs_start and each.id not in begun | closed else each.of_student(user.id)
            )
            for each in assignments
        ]

    async def start(self, user: User, course: Course, assignment: Assignment, password: str) -> ExamStart:
        """Start now, from the address of this request. Starting again changes nothing.

        Raises:
          AssignmentNotFound: it has not opened.
          RoleMissing: the user is not a student of the course.
          NothingToStart, ExamTimeOver, AddressRefused, ExamPasswordWrong.
          TooManySignIns: too many wrong passwords were sent.
        """
        moment = now()
        sitting = await self._sitting(user, assignment)
        if sitting.opens_at > moment:
            raise no_assignment(assignment.id)
        await self._require_student(user, course)
        if not assignment.needs_start:
            raise NothingToStart(f"{assignment.name} needs no start: its problems are open.")
        if sitting.started_at is not None:
            return _view(assignment, sitting)
        last = ends_at(sitting.due_at, None, sitting.extra_minutes, moment)
        if moment >= last:
            raise ExamTimeOver(f"{assignment.name} is over, so it can no longer be started.", ended_at=last.isoformat())
        address = viewer().address
        require_address(assignment.name, address, assignment.addresses)
        await self._check_password(user, assignment, password, address)
        row = {"assignment_id": assignment.id, "user_id": user.id, "started_at": now()}
        async with self._database.writing() as session:
            await session.execute(insert_into(session, ExamStartRow).values(row).on_conflict_do_nothing())
        return await self.of(user, assignment)

    async def _check_password(self, user: User, assignment: Assignment, password: str, address: str) -> None:
        if not assignment.password_hash:
            return
        name = f"exam {assignment.id} {user.name}"
        await self._throttle.begin(name, address, _TOO_MANY_PASSWORDS)
        if not await self._passwords.verify(password, assignment.password_hash):
            raise ExamPasswordWrong(f"This is not the password of {assignment.name}. Ask for it in the room.")
        await self._throttle.forgive(name, address)

    async def _require_student(self, user: User, course: Course) -> None:
        async with self._database.reading() as session:
            member = await session.get(MemberRow, (course.id, user.id))
        if member is None or member.role != "student":
            raise RoleMissing("Only students of the course start its exams.")

    async def _sitting(self, user: User, assignment: Assignment) -> _Sitting:
        key = (assignment.id, user.id)
        async with self._database.reading() as session:
            start = await session.get(ExamStartRow, key)
            extension = await session.get(ExtensionRow, key)
            dates = await dates_in_section(session, assignment, user.id)
        return _Sitting(*dates, extension.extra_minutes if extension else 0, start.started_at if start else None)


def _view(assignment: Assignment, sitting: _Sitting) -> ExamStart:
    if sitting.started_at is None:
        return ExamStart(started_at=None, ends_at=None)
    end = ends_at(sitting.due_at, assignment.duration_minutes, sitting.extra_minutes, sitting.started_at)
    return ExamStart(started_at=sitting.started_at, ends_at=end)
