"""Whom a row of a roster is about: a line of the course, an account, or someone who was invited.

People are found by what staff or a learning platform wrote: the student number, then the address. An account is found
by its name only if the roster names it as `username`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import GUEST_ID, User
from app.accounts.models import InvitationRow, UserRow
from app.core.clock import now
from app.teaching.courses.models import MemberRow, RosterLineRow
from app.teaching.courses.roster_file import RosterRow


@dataclass(frozen=True, slots=True)
class FoundAccount:
    id: str
    name: str
    role: str
    deactivated_at: datetime | None


@dataclass(slots=True)
class Matches:
    """What the database knows of the people of a roster."""

    members: set[str]
    accounts: dict[str, FoundAccount]
    by_username: dict[str, FoundAccount]
    # The course's lines, and those of other courses, by what identifies a person.
    lines: dict[tuple[str, str], RosterLineRow] = field(default_factory=dict)
    line_of_account: dict[str, RosterLineRow] = field(default_factory=dict)
    elsewhere: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    invitations: dict[tuple[str, str], str] = field(default_factory=dict)
    # The addresses on the lines of each account.
    addresses: dict[str, set[str]] = field(default_factory=dict)
    # Invitations that can be used, with the hash of their token, and those of the instructor that no line names, by
    # their note.
    usable: dict[str, str] = field(default_factory=dict)
    by_note: dict[str, str] = field(default_factory=dict)

    def line_of(self, row: RosterRow) -> RosterLineRow | None:
        """The line of the course for this person."""
        return next((line for key in _keys(row) if (line := self.lines.get(key)) is not None), None)

    def accounts_of(self, row: RosterRow) -> list[FoundAccount]:
        """More than one if the number and the address belong to different accounts. An account of the course first."""
        line = self.line_of(row)
        if line is not None and line.user_id is not None:
            return [self.accounts[line.user_id]]
        found = dict.fromkeys(user_id for key in _keys(row) for user_id in sorted(self.elsewhere.get(key, ())))
        if not found and row.username in self.by_username:
            return [self.by_username[row.username]]
        return [self.accounts[each] for each in found]

    def other_addresses(self, row: RosterRow, account: FoundAccount) -> set[str]:
        """The addresses of the account, if the one of the row is not among them."""
        known = self.addresses.get(account.id, set())
        return known if row.email and row.email not in known else set()

    def invitation_of(self, row: RosterRow) -> str | None:
        """The id of an invitation that this person has not used yet."""
        line = self.line_of(row)
        if line is not None and line.invitation_id in self.usable:
            return line.invitation_id
        known = next((self.invitations[key] for key in _keys(row) if key in self.invitations), None)
        return known or self.by_note.get(row.label)


async def find_matches(session: AsyncSession, user: User, course_id: str, rows: Sequence[RosterRow]) -> Matches:
    line, account = RosterLineRow, UserRow
    rows = [each for each in rows if not each.fault]
    members = set(await session.scalars(select(MemberRow.user_id).where(MemberRow.course_id == course_id)))
    numbers = {each.student_number for each in rows} - {""}
    addresses = {each.email for each in rows} - {""}
    same_person = or_(line.student_number.in_(numbers), line.email.in_(addresses))
    query = select(line).where(or_(line.course_id == course_id, same_person)).order_by(line.created_at, line.id)
    lines = (await session.scalars(query)).all()
    invitation = InvitationRow
    is_named = select(line.invitation_id).where(line.invitation_id.is_not(None))
    open_ones = await session.execute(
        select(invitation.id, invitation.token_hash, invitation.note, invitation.user_id, invitation.id.in_(is_named))
        .where(invitation.expires_at > now(), invitation.role == "student")
        .where(or_(invitation.user_id == user.id, invitation.id.in_({each.invitation_id for each in lines} - {None})))
    )
    usernames = {each.username for each in rows if each.username}
    found = (account.name.in_(usernames), account.id.in_({each.user_id for each in lines} - {None}))
    columns = (account.id, account.name, account.role, account.deactivated_at)
    accounts = await session.execute(select(*columns).where(or_(*found), account.id != GUEST_ID))
    by_id = {each[0]: FoundAccount(*each) for each in accounts}
    matches = Matches(members, by_id, {each.name: each for each in by_id.values() if each.name in usernames})
    for invitation_id, token_hash, note, author, is_on_roster in open_ones:
        matches.usable[invitation_id] = token_hash
        if author == user.id and not is_on_roster:
            matches.by_note[note] = invitation_id
    _index(matches, course_id, lines)
    return matches


def _index(matches: Matches, course_id: str, lines: Iterable[RosterLineRow]) -> None:
    for each in lines:
        for key in _keys(each):
            if each.course_id == course_id and (each.user_id is not None or key not in matches.lines):
                matches.lines[key] = each
            if each.user_id is not None and each.course_id != course_id and key[0] != "name":
                matches.elsewhere.setdefault(key, set()).add(each.user_id)
            if each.invitation_id in matches.usable and key[0] != "name":
                matches.invitations[key] = each.invitation_id or ""
        if each.course_id == course_id and each.user_id is not None:
            matches.line_of_account[each.user_id] = each
        if each.user_id is not None and each.email:
            matches.addresses.setdefault(each.user_id, set()).add(each.email)


def _keys(person: RosterRow | RosterLineRow) -> list[tuple[str, str]]:
    """What identifies a person, the surest first. A name does only if nothing else is known."""
    keys = [("number", person.student_number), ("email", person.email)]
    known = [each for each in keys if each[1]]
    return known or ([("name", person.name)] if person.name else [])
