"""Imports a roster into a course: people who have an account are enrolled, the others get an invitation.

Nothing is imported while a row has a fault, so an instructor corrects the file and never has to find out which half of
it was imported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import select

from app.accounts.caller import GUEST_ID, User
from app.accounts.invitations import MOST_AT_ONCE, Invitations
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database, insert_into
from app.teaching.courses.errors import RosterInvalid
from app.teaching.courses.models import MemberRow
from app.teaching.courses.roster_file import RosterRow, read_roster
from app.teaching.courses.service import Course

Outcome = Literal["enrol", "invite", "member", "invited", "fault"]
_DAYS = 30


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """What an import does with a row, or has done. `invitation` is the token of a new invitation, shown only once."""

    row: RosterRow
    outcome: Outcome
    detail: str = ""
    user_id: str = ""
    invitation: str = ""


@dataclass(frozen=True, slots=True)
class Roster:
    entries: Sequence[RosterEntry]
    imported: bool = False

    def count(self, outcome: Outcome) -> int:
        return sum(each.outcome == outcome for each in self.entries)

    @property
    def can_import(self) -> bool:
        return not self.imported and not self.count("fault")


class Rosters:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database, invitations: Invitations) -> None:
        self._database = database
        self._invitations = invitations

    async def check(self, user: User, course: Course, text: str) -> Roster:
        """What an import would do. Raises `RosterInvalid`."""
        rows = read_roster(text)
        account = UserRow
        usernames = {each.username for each in rows if each.username and not each.fault}
        async with self._database.reading() as session:
            found = await session.execute(
                select(account.id, account.name, account.role, account.deactivated_at).where(
                    account.name.in_(usernames), account.id != GUEST_ID
                )
            )
            accounts = {name: (user_id, role, gone_at) for user_id, name, role, gone_at in found}
            members = set(await session.scalars(select(MemberRow.user_id).where(MemberRow.course_id == course.id)))
        open_notes = {each.note for each in await self._invitations.list(user.id)}
        entries: list[RosterEntry] = []
        notes: dict[str, int] = {}
        for row in rows:
            if row.fault:
                entry = RosterEntry(row, "fault", row.fault)
            elif (account_of := accounts.get(row.username)) is not None:
                entry = _known(row, account_of, members)
            elif row.label in open_notes:
                entry = RosterEntry(row, "invited", "For a new link, revoke the invitation first.")
            elif (earlier := notes.setdefault(row.label, row.number)) != row.number:
                entry = RosterEntry(row, "fault", f"Row {earlier} is the same person. Remove one, or add an email.")
            else:
                entry = RosterEntry(row, "invite")
            entries.append(entry)
        return Roster(entries)

    async def apply(self, user: User, course: Course, text: str) -> Roster:
        """Import all of it, or nothing while a row has a fault.

        Raises:
          RosterInvalid: it cannot be read, or it would create too many invitations at once.
          TooManyInvitations.
        """
        roster = await self.check(user, course, text)
        if not roster.can_import:
            return roster
        invited = [each for each in roster.entries if each.outcome == "invite"]
        if len(invited) > MOST_AT_ONCE:
            raise RosterInvalid(
                f"{len(invited)} people would be invited, and at most {MOST_AT_ONCE} can be at once. Split the roster."
            )
        labels = [each.row.label for each in invited]
        # Before anybody is enrolled: this can be refused, and enrolling cannot.
        created = await self._invitations.create_for_class(user, labels, _DAYS) if labels else []
        tokens = {view.note: token for token, view in created}
        moment = now()
        members = [
            {"course_id": course.id, "user_id": each.user_id, "role": "student", "joined_at": moment}
            for each in roster.entries
            if each.outcome == "enrol"
        ]
        if members:
            async with self._database.writing() as session:
                await session.execute(insert_into(session, MemberRow).values(members).on_conflict_do_nothing())
        return Roster(
            [
                RosterEntry(each.row, each.outcome, each.detail, each.user_id, tokens.get(each.row.label, ""))
                if each.outcome == "invite"
                else each
                for each in roster.entries
            ],
            imported=True,
        )


def _known(row: RosterRow, account: tuple[str, str, object], members: set[str]) -> RosterEntry:
    user_id, role, gone_at = account
    if user_id in members:
        return RosterEntry(row, "member", user_id=user_id)
    if gone_at is not None:
        detail = f"The account {row.username} is deactivated. An owner can reactivate it, or remove the row."
        return RosterEntry(row, "fault", detail)
    if role != "student":
        detail = f"{row.username} has the role {role} and sees every course. Remove the row."
        return RosterEntry(row, "fault", detail)
    return RosterEntry(row, "enrol", user_id=user_id)
