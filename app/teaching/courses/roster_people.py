"""Everyone on the roster of a course: its members, and people who were invited and have no account yet."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import CompoundSelect, String, delete, func, literal, null, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.models import InvitationRow, UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.errors import PersonNotFound
from app.core.ids import is_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.teaching.courses.members import require_for_role
from app.teaching.courses.models import MemberRow, RosterLineRow
from app.teaching.courses.roster_lines import in_section, is_named
from app.teaching.courses.service import Course, MemberRole
from app.teaching.identities.identity import RosterIdentity

State = Literal["member", "invited", "expired"]
MailState = Literal["none", "waiting", "sent", "failed"]


class RosterPerson(View):
    """A person of a course.

    `id` and `account` are null until there is an account, and `line` and `identity` for someone who joined by code.
    `state` is `expired` if the invitation was revoked or has expired. `mail` is about the mail with the invitation, and
    `mail_answer` is the mail server's last answer.
    """

    id: str | None
    account: str | None
    role: MemberRole
    joined_at: datetime | None
    line: str | None
    identity: RosterIdentity | None
    state: State
    mail: MailState
    mailed_at: datetime | None
    mail_answer: str | None


class RosterPeople:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, course: Course, cursor: Cursor, q: str = "", section: str = "") -> Page[RosterPerson]:
        """By real name, or else by the name of the account. Raises `PersonNotFound` for the cursor."""
        found = _people(course.id, q, section).subquery()
        query = select(found.c.user_id, found.c.account, found.c.role, found.c.joined_at, found.c.line_id)
        async with self._database.reading() as session:
            rows = await paged(
                session,
                query,
                (found.c.place, found.c.key),
                cursor,
                lambda *columns: columns,
                missing=_nobody,
                oldest_first=True,
            )
            lines = await _lines(session, [each[4] for each in rows if each[4]])
        return rows.map(lambda each: _person(each[0], each[1], each[2], each[3], lines.get(each[4] or "")))

    async def count(self, course: Course) -> int:
        found = _people(course.id, "", "").subquery()
        async with self._database.reading() as session:
            return await session.scalar(select(func.count()).select_from(found)) or 0

    async def remove_line(self, user: User, course: Course, line_id: str) -> None:
        """Forget what the roster says of a person, and revoke an invitation that no other course needs.

        A member stays in the course. Raises `PersonNotFound`, and `RoleMissing` if it is for an assistant of the course
        and the user is another.
        """
        row = RosterLineRow
        async with self._database.writing() as session:
            line = await session.get(row, line_id) if is_id(line_id) else None
            if line is None or line.course_id != course.id:
                raise PersonNotFound(f"The roster of this course has no line with the id {line_id[:64]!r}.")
            require_for_role(course, line.role)
            invitation_id, user_id = line.invitation_id, line.user_id
            await session.delete(line)
            await session.flush()
            if invitation_id is not None:
                other = await session.scalar(select(row.id).where(row.invitation_id == invitation_id).limit(1))
                if other is None:
                    await session.execute(delete(InvitationRow).where(InvitationRow.id == invitation_id))
            record(session, user, "roster-line-removed", user_id, "", course.name, course.id)


def _people(course_id: str, q: str, section: str) -> CompoundSelect[Any]:
    """Members with their lines, and lines without an account."""
    line, member = RosterLineRow, MemberRow
    name = func.coalesce(func.nullif(line.name, ""), UserRow.name)
    members = (
        select(
            func.lower(name).label("place"),
            UserRow.id.label("key"),
            UserRow.id.label("user_id"),
            UserRow.name.label("account"),
            member.role.label("role"),
            member.joined_at.label("joined_at"),
            line.id.label("line_id"),
        )
        .join(member, member.user_id == UserRow.id)
        .outerjoin(line, (line.user_id == UserRow.id) & (line.course_id == course_id))
        .where(member.course_id == course_id, *is_named(q), *in_section(section))
    )
    nothing = null().cast(String)
    waiting = (
        select(
            func.lower(func.coalesce(func.nullif(line.name, ""), line.email)),
            line.id,
            nothing,
            nothing,
            line.role,
            literal(None, member.joined_at.type),
            line.id,
        )
        .select_from(line)
        # None matches. A search also names the account.
        .outerjoin(UserRow, UserRow.id == line.user_id)
        .where(line.course_id == course_id, line.user_id.is_(None), *is_named(q), *in_section(section))
    )
    return union_all(members, waiting)


async def _lines(session: AsyncSession, ids: Sequence[str]) -> dict[str, tuple[RosterLineRow, bool]]:
    """Lines by their id, and whether their invitation can be used."""
    line, invitation = RosterLineRow, InvitationRow
    usable = (invitation.id == line.invitation_id) & (invitation.expires_at > now())
    query = select(line, invitation.id.is_not(None)).outerjoin(invitation, usable).where(line.id.in_(ids))
    return {row.id: (row, is_usable) for row, is_usable in await session.execute(query)}


def _person(
    user_id: str | None,
    account: str | None,
    role: MemberRole,
    joined_at: datetime | None,
    found: tuple[RosterLineRow, bool] | None,
) -> RosterPerson:
    line, is_usable = found or (None, False)
    return RosterPerson(
        id=user_id,
        account=account,
        role=role,
        joined_at=joined_at,
        line=line.id if line else None,
        identity=RosterIdentity.of(line) if line else None,
        state="member" if user_id else "invited" if is_usable else "expired",
        mail=_mail(line),
        mailed_at=line.delivered_at if line else None,
        mail_answer=line.answer if line and line.delivered_at is None else None,
    )


def _mail(line: RosterLineRow | None) -> MailState:
    if line is None or (line.delivered_at is None and line.next_try_at is None and line.answer is None):
        return "none"
    if line.delivered_at is not None:
        return "sent"
    return "failed" if line.next_try_at is None else "waiting"


def _nobody(key: str) -> PersonNotFound:
    return PersonNotFound(f"The roster of this course has nobody with the id {key!r}.")
