"""Who the people of a course are, by its roster. Only staff of the course read it.

A line is created by an import or by a launch from a learning platform. It is bound to an account when the invitation is
used, when a launch arrives, or when an import finds the account. Nothing that a student types gets into a line.
"""

from collections.abc import Collection, Sequence
from typing import cast

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import InvitationRow, UserRow
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.ids import new_id
from app.core.lease import FREE
from app.core.text_search import database_text, has_text
from app.teaching.courses.models import RosterLineRow
from app.teaching.courses.service import MemberRole, add_member_in
from app.teaching.courses.staff import manages
from app.teaching.identities.identity import RosterIdentity

# The mail of an invitation that nobody has asked for yet.
NOT_SENT = {"next_try_at": None, "delivered_at": None, "answer": None, "tries": 0, **FREE}


class RosterLines:
    """Safe to share between requests. The routes check that the caller is staff of the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_course(self, course_id: str, people: Collection[str] | None = None) -> dict[str, RosterIdentity]:
        """By the id of the account, for these people or for all in the course."""
        row = RosterLineRow
        query = select(row).where(row.course_id == course_id, row.user_id.is_not(None))
        if people is not None:
            query = query.where(row.user_id.in_(people))
        async with self._database.reading() as session:
            return {each.user_id or "": RosterIdentity.of(each) for each in await session.scalars(query)}

    async def of_people(self, people: Collection[str]) -> dict[str, RosterIdentity]:
        """By the id of the account, from the newest line of each person in any course, for instructors and owners."""
        row = RosterLineRow
        query = select(row).where(row.user_id.in_(people)).order_by(row.created_at, row.id)
        async with self._database.reading() as session:
            return {each.user_id or "": RosterIdentity.of(each) for each in await session.scalars(query)}

    def is_known_as(self, part: str) -> ColumnElement[bool]:
        """The condition that a line of an account has this text in its name, address or number."""
        return UserRow.id.in_(select(RosterLineRow.user_id).where(RosterLineRow.user_id.is_not(None), _has(part)))

    async def sections(self, course_id: str) -> list[str]:
        row = RosterLineRow
        query = select(row.section).where(row.course_id == course_id, row.section != "").distinct()
        async with self._database.reading() as session:
            return sorted(await session.scalars(query))


def is_named(part: str) -> list[ColumnElement[bool]]:
    """Conditions: the account's name, or the roster's name, address or number, contains this text."""
    text = database_text(part)
    return [or_(UserRow.name.contains(text.lower(), autoescape=True), _has(text))] if text else []


def _has(part: str) -> ColumnElement[bool]:
    line = RosterLineRow
    return has_text(part, (line.name, line.email, line.student_number))


def in_section(section: str) -> list[ColumnElement[bool]]:
    return [RosterLineRow.section == section.replace("\0", "")] if section else []


async def bind_invited_in(session: AsyncSession, invitation_id: str, user_id: str) -> int:
    """In the caller's transaction, bind each line that names this invitation, and join its course. Returns how many."""
    lines = await session.scalars(select(RosterLineRow).where(RosterLineRow.invitation_id == invitation_id))
    return await _bind_in(session, list(lines), user_id)


async def _bind_in(session: AsyncSession, lines: Sequence[RosterLineRow], user_id: str) -> int:
    for line in lines:
        await bind_in(session, line, user_id)
        await add_member_in(session, line.course_id, user_id, cast(MemberRole, line.role))
    return len(lines)


async def bind_in(session: AsyncSession, line: RosterLineRow, user_id: str) -> RosterLineRow:
    """In the caller's transaction, let the line be about this account. If the account has one, that one learns from it.

    Returns the line of the account.
    """
    own = await _own(session, line.course_id, user_id)
    if own is None or own is line:
        line.user_id, line.invitation_id = user_id, None
        await session.flush()
        return line
    fill(own, RosterIdentity.of(line))
    own.role = line.role
    await session.delete(line)
    await session.flush()
    return own


def fill(line: RosterLineRow, identity: RosterIdentity) -> None:
    """Let the line have what is known now. What is unknown stays as it was."""
    if identity.email and identity.email != line.email:
        forget_mail(line)
    for name, value in identity.known.items():
        setattr(line, name, value)


def forget_mail(line: RosterLineRow) -> None:
    """The mail that was sent went to another address, or had another link."""
    for name, value in NOT_SENT.items():
        setattr(line, name, value)


def new_line(course_id: str, role: MemberRole, identity: RosterIdentity) -> RosterLineRow:
    return RosterLineRow(
        id=new_id(), course_id=course_id, role=role, created_at=now(), **NOT_SENT, **identity.model_dump()
    )


async def learn_in(
    session: AsyncSession, course_id: str, user: User, role: MemberRole, identity: RosterIdentity
) -> None:
    """In the caller's transaction, keep what a learning platform says of a member.

    An invitation that this person has not used yet is used up, so that it creates no second account.
    """
    if manages(user) or not identity.known:
        return
    line = await _own(session, course_id, user.id)
    waiting = await _waiting(session, course_id, identity)
    if waiting is not None:
        invitation_id = waiting.invitation_id
        line = await bind_in(session, waiting, user.id)
        if invitation_id is not None:
            await bind_invited_in(session, invitation_id, user.id)
            await session.execute(delete(InvitationRow).where(InvitationRow.id == invitation_id))
    if line is None:
        # Someone may open two links at once.
        values = {"id": new_id(), "course_id": course_id, "user_id": user.id, "role": role, "created_at": now()}
        values |= NOT_SENT | RosterIdentity().model_dump()
        await session.execute(insert_into(session, RosterLineRow).values(values).on_conflict_do_nothing())
        line = await _own(session, course_id, user.id)
    if line is not None:
        fill(line, identity)
    await session.flush()


async def _own(session: AsyncSession, course_id: str, user_id: str) -> RosterLineRow | None:
    row = RosterLineRow
    found: RosterLineRow | None = await session.scalar(
        select(row).where(row.course_id == course_id, row.user_id == user_id)
    )
    return found


async def is_member_in(session: AsyncSession, course_id: str, identity: RosterIdentity) -> bool:
    """Whether an account of the course is known to be of this person."""
    return await _same_person(session, course_id, identity, RosterLineRow.user_id.is_not(None)) is not None


async def _waiting(session: AsyncSession, course_id: str, identity: RosterIdentity) -> RosterLineRow | None:
    """The line of this person, without an account."""
    return await _same_person(session, course_id, identity, RosterLineRow.user_id.is_(None))


async def _same_person(
    session: AsyncSession, course_id: str, identity: RosterIdentity, condition: ColumnElement[bool]
) -> RosterLineRow | None:
    """The first line with this number, or else with this address."""
    row = RosterLineRow
    for column, value in ((row.student_number, identity.student_number), (row.email, identity.email)):
        if value:
            query = select(row).where(row.course_id == course_id, condition, column == value)
            found: RosterLineRow | None = await session.scalar(query.order_by(row.created_at, row.id).limit(1))
            if found is not None:
                return found
    return None
