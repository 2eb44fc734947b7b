"""Imports a roster into a course: people who have an account are enrolled, the others get an invitation.

Nothing is imported while a row has a fault, so an instructor corrects the file and never has to find out which half of
it was imported. Each person becomes a line of the course's roster, also those whose account does not exist yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.invitations import Invitations
from app.accounts.models import InvitationRow
from app.core.database import Database
from app.teaching.courses.models import CourseRow
from app.teaching.courses.roster_file import RosterRow, read_roster
from app.teaching.courses.roster_lines import bind_in, bind_invited_in, fill, forget_mail, new_line
from app.teaching.courses.roster_links import RosterLinks
from app.teaching.courses.roster_matches import FoundAccount, Matches, find_matches
from app.teaching.courses.service import Course, add_member_in
from app.teaching.identities.identity import RosterIdentity

Outcome = Literal["enrol", "invite", "member", "invited", "skip", "fault"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
INVITATION_DAYS = 30
_ASSISTANT = "Only an instructor of the course can add an assistant."


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """What an import does with a row, or has done. `invitation_id` is that of one whose link can be shown."""

    row: RosterRow
    outcome: Outcome
    detail: str = ""
    user_id: str = ""
    invitation_id: str = ""


@dataclass(frozen=True, slots=True)
class Roster:
    entries: Sequence[RosterEntry]
    imported: bool = False

    def count(self, outcome: Outcome) -> int:
        return sum(each.outcome == outcome for each in self.entries)

    @property
    def can_import(self) -> bool:
        return not self.imported and not self.count("fault")

    @property
    def warnings(self) -> list[RosterRow]:
        return [each.row for each in self.entries if each.row.warning]

    @property
    def counted(self) -> str:
        """For the audit log."""
        counts = {each: self.count(each) for each in OUTCOMES}
        return ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)


class Rosters:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database, invitations: Invitations, links: RosterLinks) -> None:
        self._database = database
        self._invitations = invitations
        self._links = links

    async def check(self, user: User, course: Course, text: str) -> Roster:
        """What an import would do. Raises `RosterInvalid`."""
        rows = _rows(course, text)
        async with self._database.reading() as session:
            return Roster(_plan(rows, await find_matches(session, user, course.id, rows)))

    async def apply(self, user: User, course: Course, text: str) -> Roster:
        """Import all of it, or nothing while a row has a fault.

        Raises:
          RosterInvalid: it cannot be read.
          TooManyInvitations.
        """
        rows = _rows(course, text)
        async with self._database.writing() as session:
            # Two imports at once would each invite the same people.
            await session.get(CourseRow, course.id, with_for_update=True)
            matches = await find_matches(session, user, course.id, rows)
            roster = Roster(_plan(rows, matches))
            if not roster.can_import:
                return roster
            invited = await self._invite(session, user, roster.entries, matches)
            entries = []
            for each in roster.entries:
                if each.outcome in ("enrol", "member"):
                    await _enrol(session, course.id, each, matches)
                elif each.outcome in ("invite", "invited"):
                    invitation_id = invited[each.row.number]
                    _expect(session, course.id, each.row, invitation_id, matches)
                    # The link of an invitation that was not created by an import is unknown.
                    has_link = self._has_link(invitation_id, matches)
                    entries.append(replace(each, invitation_id=invitation_id if has_link else ""))
                    continue
                entries.append(each)
            record(session, user, "roster-imported", None, "", f"{course.name}: {roster.counted}", course.id)
        return Roster(entries, imported=True)

    async def _invite(
        self, session: AsyncSession, user: User, entries: Sequence[RosterEntry], matches: Matches
    ) -> dict[int, str]:
        """The id of the invitation for each row: one that was not used yet, or a new one."""
        ids = {
            each.row.number: known
            for each in entries
            if each.outcome == "invited" and (known := matches.invitation_of(each.row)) is not None
        }
        new = [each.row for each in entries if each.outcome in ("invite", "invited") and each.row.number not in ids]
        await self._invitations.extend_in(session, list(ids.values()), INVITATION_DAYS)
        created = await self._invitations.create_for_roster_in(
            session, user, [each.label for each in new], INVITATION_DAYS, self._links.token
        )
        return ids | {row.number: each.id for row, each in zip(new, created, strict=True)}

    def _has_link(self, invitation_id: str, matches: Matches) -> bool:
        token_hash = matches.usable.get(invitation_id)
        return token_hash is None or self._links.is_known(invitation_id, token_hash)


def _rows(course: Course, text: str) -> list[RosterRow]:
    """Assistants are skipped unless an instructor of the course imports them. Raises `RosterInvalid`."""
    rows = read_roster(text)
    if course.is_taught:
        return rows
    return [
        each.model_copy(update={"skip": _ASSISTANT}) if each.role == "assistant" and not each.fault else each
        for each in rows
    ]


def _plan(rows: Sequence[RosterRow], matches: Matches) -> list[RosterEntry]:
    entries: list[RosterEntry] = []
    taken: dict[str, int] = {}
    for row in rows:
        entry = _entry(row, matches)
        # By its name alone, a person may be in the file twice.
        key = entry.user_id or ("" if row.email or row.student_number else row.label)
        if entry.outcome in ("enrol", "member", "invite", "invited") and key:
            earlier = taken.setdefault(key, row.number)
            if earlier != row.number:
                detail = f"Row {earlier} is the same person. Remove one, or add an email."
                entry = RosterEntry(row, "fault", detail)
        entries.append(entry)
    return entries


def _entry(row: RosterRow, matches: Matches) -> RosterEntry:
    if row.fault:
        return RosterEntry(row, "fault", row.fault)
    if row.skip:
        return RosterEntry(row, "skip", f"{row.label} {row.skip}" if row.skip.startswith("has ") else row.skip)
    accounts = matches.accounts_of(row)
    if len(accounts) > 1:
        names = " and ".join(each.name for each in accounts[:3])
        return RosterEntry(
            row, "skip", f"The number and the email belong to the accounts {names}. An owner can merge them."
        )
    if accounts:
        return _known(row, accounts[0], matches)
    is_known = matches.line_of(row) is not None or matches.invitation_of(row) is not None
    return RosterEntry(row, "invited" if is_known else "invite")


def _known(row: RosterRow, account: FoundAccount, matches: Matches) -> RosterEntry:
    if account.id in matches.members:
        return RosterEntry(row, "member", user_id=account.id)
    if account.deactivated_at is not None:
        return RosterEntry(row, "skip", f"The account {account.name} is deactivated. An owner can reactivate it.")
    if account.role != "student":
        return RosterEntry(
            row,
            "skip",
            f"{account.name} has the role {account.role}. Instructors are added in the settings of the course.",
        )
    if row.username != account.name and (others := matches.other_addresses(row, account)):
        return RosterEntry(
            row,
            "skip",
            f"The student number belongs to the account {account.name}, whose email is {min(others)}. Remove the email "
            "if it is the same person, and the number if not.",
        )
    return RosterEntry(row, "enrol", f"The account is {account.name}.", account.id)


async def _enrol(session: AsyncSession, course_id: str, entry: RosterEntry, matches: Matches) -> None:
    """The person has an account: it joins the course, and its line says who it is."""
    row, user_id = entry.row, entry.user_id
    identity = row.identity
    line = matches.line_of(row) or matches.line_of_account.get(user_id)
    if line is None and identity.known:
        line = new_line(course_id, row.role, RosterIdentity())
        session.add(line)
    if line is not None:
        invitation_id = line.invitation_id
        line = await bind_in(session, line, user_id)
        fill(line, identity)
        if invitation_id is not None:
            # So that it creates no second account.
            await bind_invited_in(session, invitation_id, user_id)
            await session.execute(delete(InvitationRow).where(InvitationRow.id == invitation_id))
    await add_member_in(session, course_id, user_id, row.role)


def _expect(session: AsyncSession, course_id: str, row: RosterRow, invitation_id: str, matches: Matches) -> None:
    """The person has no account yet: the line names the invitation."""
    line = matches.line_of(row)
    if line is None:
        line = new_line(course_id, row.role, RosterIdentity())
        session.add(line)
    fill(line, row.identity)
    if line.invitation_id != invitation_id:
        forget_mail(line)
    line.role, line.invitation_id = row.role, invitation_id
