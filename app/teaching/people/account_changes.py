"""What owners do to accounts: another role, deactivation, a new way in. The only writer of roles and deactivation.

Each change and its entry in the audit log are one transaction. Any change that adds rights or lets a person in again
requires a recent sign-in of the owner; deactivating does not, because it may be urgent.
"""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import check_reason, record
from app.accounts.caller import Caller
from app.accounts.last_owner import require_another_owner
from app.accounts.models import UserRow
from app.accounts.roles import Role
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.core.errors import OwnAccount, PersonDeactivated
from app.core.ids import is_id
from app.core.start_errors import AccountUnknown
from app.teaching.people.directory import no_person

_LAST = "This is the only owner who can sign in. Make another account an owner first."


class PeopleChanges:
    """Safe to share between requests. The caller of each method must be an owner, which the routes check."""

    def __init__(self, database: Database, accounts: Accounts) -> None:
        self._database = database
        self._accounts = accounts

    async def set_role(self, caller: Caller, person_id: str, role: Role, reason: str) -> None:
        """Invitations that the new role could not create are revoked. Their present role is not a change.

        Raises:
          SessionNeeded, SignInAgain, FieldInvalid, PersonNotFound.
          LastOwner: no other owner could sign in.
        """
        self._accounts.recent.require(caller)
        reason = check_reason(reason)
        async with self._database.writing() as session:
            if role != "owner":
                await require_another_owner(session, person_id, _LAST, lock=True)
            row = await _find(session, person_id)
            if row.role == role:
                return
            detail = f"{row.role} to {role}"
            row.role = role
            await self._accounts.invitations.revoke_above_in(session, row.id, role)
            record(session, caller.user, "role-changed", row.id, reason, detail)

    async def deactivate(self, caller: Caller, person_id: str, reason: str) -> None:
        """End all their sessions, links and invitations, and refuse their API tokens, until they are reactivated.

        Raises:
          FieldInvalid, PersonNotFound, OwnAccount.
          LastOwner: no other owner could sign in.
        """
        reason = check_reason(reason)
        if person_id == caller.user.id:
            raise OwnAccount("Only another owner can deactivate it. To leave for good, delete it on the page Account.")
        async with self._database.writing() as session:
            # Two owners who deactivate each other at once must not both succeed.
            await require_another_owner(session, person_id, _LAST, lock=True)
            row = await _find(session, person_id)
            if row.deactivated_at is not None:
                return
            row.deactivated_at = now()
            await self._accounts.shut_out_in(session, row.id)
            record(session, caller.user, "deactivated", row.id, reason)

    async def reactivate(self, caller: Caller, person_id: str, reason: str) -> None:
        """They can sign in again, and their API tokens work again.

        Raises:
          SessionNeeded, SignInAgain, FieldInvalid, PersonNotFound.
        """
        self._accounts.recent.require(caller)
        reason = check_reason(reason)
        async with self._database.writing() as session:
            row = await _find(session, person_id)
            if row.deactivated_at is None:
                return
            row.deactivated_at = None
            record(session, caller.user, "reactivated", row.id, reason)

    async def reset_password(self, caller: Caller, person_id: str, reason: str) -> str:
        """Remove their password and end their sessions. Returns the token of a link that signs them in, once.

        Raises:
          SessionNeeded, SignInAgain, FieldInvalid, PersonNotFound.
          OwnAccount: owners change their own password on the page Account.
          PersonDeactivated: the link would not work.
        """
        self._accounts.recent.require(caller)
        reason = check_reason(reason)
        async with self._database.writing() as session:
            row = await _find(session, person_id)
            if row.id == caller.user.id:
                raise OwnAccount("Change your own password on the page Account.")
            if row.deactivated_at is not None:
                raise PersonDeactivated(f"A link would not sign {row.name} in. Reactivate the account first.")
            token = await self._accounts.reset_password_in(session, row)
            record(session, caller.user, "password-reset", row.id, reason)
        return token


async def reset_as_operator(database: Database, accounts: Accounts, name: str) -> str:
    """As `PeopleChanges.reset_password`, for the command line, where nobody is signed in.

    Raises:
      AccountUnknown: there is no account with this name.
    """
    async with database.writing() as session:
        row = await session.scalar(select(UserRow).where(UserRow.name == name))
        if row is None:
            raise AccountUnknown(f"there is no account {name!r}.", "Use the name that they sign in with.")
        record(session, None, "password-reset-by-operator", row.id, "")
        return await accounts.reset_password_in(session, row)


async def _find(session: AsyncSession, person_id: str) -> UserRow:
    """Raises `PersonNotFound`. The row stays locked, so of two changes at once the second sees the first."""
    row = await session.get(UserRow, person_id, with_for_update=True) if is_id(person_id) else None
    if row is None:
        raise no_person(person_id)
    return row
