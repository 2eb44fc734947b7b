"""Who is in a course, as its instructors change it. service.py has how someone joins by the code."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, record
from app.accounts.caller import GUEST_ID, User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.errors import PersonNotFound, RoleMissing
from app.core.ids import is_id
from app.core.view import View
from app.teaching.courses.models import MemberRow
from app.teaching.courses.rights import RIGHTS, Right, read_rights, rights_in_words, stored_rights
from app.teaching.courses.service import Course, MemberRole, add_member_in


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    name: str
    joined_at: datetime
    role: MemberRole
    rights: frozenset[Right] = frozenset()


class CourseAssistant(View):
    """An assistant of a course, and the rights that they have beyond grading."""

    id: str
    name: str
    rights: list[Right]


@dataclass(frozen=True, slots=True)
class Account:
    id: str
    name: str


class CourseMembers:
    """Safe to share between requests. The routes check who may call what.

    What changes nothing leaves no entry in the audit log.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, course: Course) -> list[Member]:
        """By name."""
        query = (
            select(UserRow.id, UserRow.name, MemberRow.joined_at, MemberRow.role, MemberRow.rights)
            .join(MemberRow, MemberRow.user_id == UserRow.id)
            .where(MemberRow.course_id == course.id)
            .order_by(UserRow.name)
        )
        async with self._database.reading() as session:
            return [
                Member(user_id, name, joined_at, cast(MemberRole, role), _rights(role, rights))
                for user_id, name, joined_at, role, rights in await session.execute(query)
            ]

    async def assistants(self, course: Course) -> list[CourseAssistant]:
        """By name."""
        return [
            CourseAssistant(id=each.id, name=each.name, rights=[it for it in RIGHTS if it in each.rights])
            for each in await self.of(course)
            if each.role == "assistant"
        ]

    async def former(self, course: Course, user_id: str) -> Account | None:
        """The account with this id, unless it is in the course."""
        is_member = exists().where(MemberRow.course_id == course.id, MemberRow.user_id == UserRow.id)
        query = select(UserRow.id, UserRow.name).where(UserRow.id == user_id, UserRow.id != GUEST_ID, ~is_member)
        if not is_id(user_id):
            return None
        async with self._database.reading() as session:
            row = (await session.execute(query)).first()
        return Account(*row) if row else None

    async def add(self, actor: User, course: Course, user_id: str) -> None:
        """Add an account as a student. For a member, nothing changes. Raises `PersonNotFound`."""
        async with self._database.writing() as session:
            row = await session.get(UserRow, user_id) if is_id(user_id) and user_id != GUEST_ID else None
            if row is None:
                raise PersonNotFound(f"There is no account with the id {user_id[:64]!r}. It may have been deleted.")
            if await add_member_in(session, course.id, row.id, "student"):
                record(session, actor, "course-member-added", row.id, "", course.name, course.id)

    async def remove(self, actor: User, course: Course, user_id: str) -> None:
        """Their attempts stay. Raises `PersonNotFound`, and `RoleMissing` for an assistant who would remove another."""
        async with self._database.writing() as session:
            row = await _member(session, course, user_id)
            require_for_role(course, row.role)
            detail = f"{course.name}: {row.role}"
            await session.delete(row)
            record(session, actor, "course-member-removed", user_id, "", detail, course.id)

    async def set_role(self, actor: User, course: Course, user_id: str, role: MemberRole) -> None:
        """Make a member of the course an assistant, with the usual rights, or a student. Raises `PersonNotFound`."""
        async with self._database.writing() as session:
            row = await _member(session, course, user_id)
            if row.role == role:
                return
            detail = f"{course.name}: {row.role} to {role}"
            row.role, row.rights = role, None
            record(session, actor, "course-role-changed", user_id, "", detail[:LONGEST_DETAIL], course.id)

    async def set_rights(self, actor: User, course: Course, user_id: str, rights: Collection[Right]) -> None:
        """Give an assistant these rights instead of those that they have. Raises `PersonNotFound`."""
        async with self._database.writing() as session:
            row = await _member(session, course, user_id)
            if row.role != "assistant":
                raise PersonNotFound(
                    f"No assistant of this course has the id {user_id[:64]!r}. Make the member an assistant first."
                )
            before = read_rights(row.rights)
            if before == frozenset(rights):
                return
            row.rights = stored_rights(rights)
            detail = f"{rights_in_words(before)} to {rights_in_words(rights)}, in {course.name}"
            record(session, actor, "course-rights-changed", user_id, "", detail[:LONGEST_DETAIL], course.id)


def require_for_role(course: Course, role: str) -> None:
    """Raises `RoleMissing` if only an instructor of the course may add or remove someone with this role in it."""
    if role != "student" and not course.is_taught:
        raise RoleMissing("Only an instructor of the course can add or remove its assistants.")


def _rights(role: str, stored: str | None) -> frozenset[Right]:
    return read_rights(stored) if role == "assistant" else frozenset()


async def _member(session: AsyncSession, course: Course, user_id: str) -> MemberRow:
    """Locked. Raises `PersonNotFound`."""
    key = (course.id, user_id)
    row = await session.get(MemberRow, key, with_for_update=True) if is_id(user_id) else None
    if row is None:
        raise PersonNotFound(f"No member of this course has the id {user_id[:64]!r}.")
    return row
