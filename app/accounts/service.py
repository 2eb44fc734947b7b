"""Users: how accounts are created, and the ways to sign in to them.

The only writer of sign-in links and of users, except for their names in rankings, and roles and deactivation, which
app/teaching/people/ writes.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Literal

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import Caller, User, user_of
from app.accounts.digest import digest, new_token
from app.accounts.errors import InvitationInvalid, SignInLinkInvalid, SignInRefused, SignUpClosed
from app.accounts.grants import Grants
from app.accounts.identities import Identities, Identity, find, free_name, new_row
from app.accounts.invitations import Invitations
from app.accounts.last_use import LastUse
from app.accounts.models import SignInLinkRow, UserRow
from app.accounts.passwords import Passwords, check_password
from app.accounts.ranking_names import is_ranking_name
from app.accounts.recent_sign_in import RecentSignIn, require_session
from app.accounts.roles import Role
from app.accounts.sessions import Sessions
from app.accounts.sign_in_throttle import Throttle
from app.accounts.sign_up_brake import SignUpBrake, SignUpLimits
from app.accounts.text_rules import check_name, is_name, name_taken, normal_name
from app.accounts.tokens import Tokens
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id

SignUp = Literal["open", "invitation", "closed"]
# In the transaction that uses an invitation: its id, and the user. Returns how many courses the user joined.
OnInvited = Callable[[AsyncSession, str, str], Awaitable[int]]


class Accounts:
    """Safe to share between requests. Methods that sign in return the token of a new session."""

    def __init__(
        self,
        database: Database,
        *,
        session_life: timedelta,
        link_life: timedelta,
        confirm_after: timedelta = timedelta(minutes=15),
        sign_up: SignUp = "invitation",
        sign_up_limits: SignUpLimits | None = None,
    ) -> None:
        self._database = database
        self.link_life = link_life
        self._passwords = Passwords()
        self._throttle = Throttle(database)
        self._brake = SignUpBrake(database, sign_up_limits or SignUpLimits())
        self.recent = RecentSignIn(confirm_after)
        self.sign_up_by = sign_up
        self.uses = LastUse(database)
        self.sessions = Sessions(database, session_life, self.uses)
        self.tokens = Tokens(database, self.uses)
        self.invitations = Invitations(database)
        self.identities = Identities(database)
        # Who is invited may be on rosters of courses, which are not known here.
        self.on_invited: OnInvited = _in_no_course
        self.grants = Grants(self.recent, self.tokens, self.invitations, self.identities)

    async def ensure_owner(self) -> User:
        """The first owner, created on an empty database."""
        async with self._database.writing() as session:
            row = await session.scalar(
                select(UserRow)
                .where(UserRow.role == "owner", UserRow.deactivated_at.is_(None))
                .order_by(UserRow.created_at, UserRow.id)
                .limit(1)
            )
            return user_of(row or _new_user(session, "owner", "owner"))

    async def add_user(self, name: str, role: Role) -> User:
        async with self._database.writing() as session:
            return user_of(_new_user(session, name, role))

    async def preset_token(self, user: User, token: str | None) -> None:
        """Make `token` the user's preset one. An earlier preset token stops working, and with `None` all of them."""
        await self.tokens.preset(user, token)

    async def new_sign_in_link(self, user: User) -> str:
        """A token that signs one browser in, once. Earlier links keep working: each server prints one at its start."""
        async with self._database.writing() as session:
            return await self._new_link(session, user.id)

    async def _new_link(self, session: AsyncSession, user_id: str) -> str:
        token, moment = new_token(), now()
        await session.execute(
            delete(SignInLinkRow).where(SignInLinkRow.user_id == user_id, SignInLinkRow.expires_at <= moment)
        )
        session.add(
            SignInLinkRow(
                token_hash=digest(token), user_id=user_id, created_at=moment, expires_at=moment + self.link_life
            )
        )
        return token

    async def reset_password_in(self, session: AsyncSession, row: UserRow) -> str:
        """In the caller's transaction, remove a user's password and end their sessions.

        Returns:
          the token of a link that signs them in, once.
        """
        row.password_hash = None
        await self.sessions.revoke_others_in(session, row.id, None)
        await session.execute(delete(SignInLinkRow).where(SignInLinkRow.user_id == row.id))
        return await self._new_link(session, row.id)

    async def shut_out_in(self, session: AsyncSession, user_id: str) -> None:
        """In the caller's transaction, end the user's sessions, links and invitations."""
        await self.sessions.revoke_others_in(session, user_id, None)
        await session.execute(delete(SignInLinkRow).where(SignInLinkRow.user_id == user_id))
        await self.invitations.revoke_above_in(session, user_id, None)

    async def sign_in(self, link_token: str, user_agent: str = "") -> str:
        """Use up a sign-in link.

        Raises:
          SignInLinkInvalid: the link was already used, has expired or never existed.
          AccountDeactivated.
        """
        async with self._database.writing() as session:
            # One statement finds and uses up the link, so if two browsers open it at once, one of them is refused.
            user_id = await session.scalar(
                delete(SignInLinkRow)
                .where(SignInLinkRow.token_hash == digest(link_token), SignInLinkRow.expires_at > now())
                .returning(SignInLinkRow.user_id)
            )
            if user_id is None:
                raise SignInLinkInvalid(
                    "This sign-in link was already used or has expired. The server prints a new one for the owner when "
                    "it starts. To create one for someone else, run: meshgrade reset-password NAME."
                )
            return await self.sessions.open(session, user_id, user_agent)

    async def sign_in_with_password(self, name: str, password: str, address: str, user_agent: str) -> str:
        """Sign in from a network address.

        Raises:
          SignInRefused: wrong name or wrong password. Message and response time are the same for both.
          TooManySignIns: too many sign-ins failed.
          AccountDeactivated: the password was right.
        """
        name = normal_name(name)
        await self._throttle.begin(name, address)
        async with self._database.reading() as session:
            row = await session.scalar(select(UserRow).where(UserRow.name == name)) if is_name(name) else None
        right = await self._passwords.verify(password, row.password_hash if row else None)
        if row is None or not right:
            raise SignInRefused(
                "The name or the password is wrong. If you never set a password, sign in with a link or a provider, "
                "then set one on your account page."
            )
        await self._throttle.forgive(name, address)
        async with self._database.writing() as session:
            return await self.sessions.open(session, row.id, user_agent)

    async def sign_up(self, name: str, password: str, invitation: str | None, address: str, user_agent: str) -> str:
        """Create an account for a network address, with the role of the invitation, or as a student without one.

        Raises:
          SignUpClosed: the settings require an invitation, or allow no new accounts.
          TooManySignUps: too many accounts were created without an invitation.
          InvitationInvalid, NameInvalid, NameTaken, PasswordRefused.
        """
        name = check_name(name)
        check_password(password, name)
        await self.check_sign_up(invitation)
        if not invitation:
            await self._brake.count(address)
        password_hash = await self._passwords.hash(password)
        try:
            async with self._database.writing() as session:
                if await is_ranking_name(session, name):
                    raise name_taken(name)
                user = await self._invited_in(session, name, invitation, password_hash)
                return await self.sessions.open(session, user.id, user_agent)
        except IntegrityError:  # rolled back, so the invitation still works
            raise name_taken(name) from None

    async def sign_in_with_identity(
        self, identity: Identity, invitation: str | None, address: str, user_agent: str
    ) -> str:
        """Sign in to the account that the identity is linked to. If there is none, create one as `sign_up` does.

        Raises:
          SignUpClosed, InvitationInvalid, TooManySignUps: there is no account, and none can be created.
        """
        try:
            return await self._enter(identity, invitation, address, user_agent)
        except IntegrityError:  # the same person or the same name twice at the same moment: now the first one is stored
            return await self._enter(identity, invitation, address, user_agent)

    async def _enter(self, identity: Identity, invitation: str | None, address: str, user_agent: str) -> str:
        async with self._database.writing() as session:
            known = await find(session, identity)
            if known is not None:
                await self._join_in(session, known.user_id, invitation)
                return await self.sessions.open(session, known.user_id, user_agent)
            self._refuse_sign_up(invitation)
            if not invitation:
                await self._brake.count_in(session, address)
            user = await self._invited_in(session, await free_name(session, identity.name), invitation)
            session.add(new_row(user.id, identity))
            return await self.sessions.open(session, user.id, user_agent)

    async def _invited_in(
        self, session: AsyncSession, name: str, invitation: str | None, password_hash: str | None = None
    ) -> UserRow:
        """A new account, with the role of the invitation, which is used up. Raises `InvitationInvalid`."""
        used = await self.invitations.take_in(session, invitation) if invitation else None
        user = _new_user(session, name, used.role if used else "student", password_hash)
        await session.flush()
        if used is not None:
            await self.on_invited(session, used.id, user.id)
            await self.invitations.use_up_in(session, used.id)
        return user

    async def accept_invitation(self, user: User, invitation: str) -> None:
        """Join the courses of an invitation with an account that exists, so that nobody needs a second one.

        Raises:
          InvitationInvalid: it cannot be used, or it only creates an account.
        """
        async with self._database.writing() as session:
            used = await self.invitations.take_in(session, invitation)
            if user.role != "student" or not await self.on_invited(session, used.id, user.id):
                raise InvitationInvalid("This invitation only creates an account, and you are signed in to one.")
            await self.invitations.use_up_in(session, used.id)

    async def _join_in(self, session: AsyncSession, user_id: str, invitation: str | None) -> None:
        """As `accept_invitation`, for someone who signs in. One that cannot be used does not keep them out."""
        row = await session.get_one(UserRow, user_id)
        if not invitation or row.role != "student" or row.deactivated_at is not None:
            return
        with suppress(InvitationInvalid):
            used = await self.invitations.take_in(session, invitation)
            if await self.on_invited(session, used.id, user_id):
                await self.invitations.use_up_in(session, used.id)

    async def account_of_in(self, session: AsyncSession, identity: Identity, role: Role) -> str:
        """In the caller's transaction, the id of the account that the identity signs in to.

        If there is none, one is created, which no ranking shows, because someone else chose its name.
        """
        known = await find(session, identity)
        if known is not None:
            return known.user_id
        user = _new_user(session, await free_name(session, identity.name), role)
        user.in_rankings = False
        await session.flush()
        session.add(new_row(user.id, identity))
        await session.flush()
        return user.id

    async def check_sign_up(self, invitation: str | None) -> None:
        """Check that an account can be created now. Raises `SignUpClosed` and `InvitationInvalid`."""
        self._refuse_sign_up(invitation)
        if invitation:
            await self.invitations.check(invitation)

    def _refuse_sign_up(self, invitation: str | None) -> None:
        if self.sign_up_by == "closed":
            raise SignUpClosed("This service does not accept new accounts.")
        if self.sign_up_by == "invitation" and not invitation:
            raise SignUpClosed("You need an invitation to create an account. Open the link from your instructor.")

    async def has_password(self, user: User) -> bool:
        async with self._database.reading() as session:
            return await session.scalar(select(UserRow.password_hash).where(UserRow.id == user.id)) is not None

    async def change_password(self, caller: Caller, old: str, new: str, address: str) -> None:
        """Set the password, and sign out every other browser. Without a password so far, `old` is ignored.

        Raises:
          SessionNeeded, SignInAgain: see recent_sign_in.py. The second one only if the user has no password yet.
          SignInRefused, TooManySignIns: `old` is wrong, or was wrong too often.
          PasswordRefused: `new` is too weak.
        """
        user = caller.user
        require_session(caller)
        # A user with a password confirms their identity with it.
        if not await self.has_password(user):
            self.recent.require(caller)
        check_password(new, user.name)
        await self.check_own_password(user, old, address)
        password_hash = await self._passwords.hash(new)
        async with self._database.writing() as session:
            await session.execute(update(UserRow).where(UserRow.id == user.id).values(password_hash=password_hash))
            await self.sessions.revoke_others_in(session, user.id, caller.session_id)
        await self._confirmed(caller)

    async def check_own_password(self, user: User, password: str, address: str) -> None:
        """Raises `SignInRefused` if the user has another password, and `TooManySignIns`."""
        async with self._database.reading() as session:
            stored = await session.scalar(select(UserRow.password_hash).where(UserRow.id == user.id))
        if stored is None:
            return
        await self._throttle.begin(user.name, address)
        if not await self._passwords.verify(password, stored):
            raise SignInRefused("The current password is wrong. Nothing was changed.")
        await self._throttle.forgive(user.name, address)

    async def confirm_with_password(self, caller: Caller, password: str, address: str) -> None:
        """The user at the browser proves their identity again.

        Raises:
          SessionNeeded, SignInRefused (even if there is no password), TooManySignIns.
        """
        require_session(caller)
        if not await self.has_password(caller.user):
            raise SignInRefused("Your account has no password. Confirm another way.")
        await self.check_own_password(caller.user, password, address)
        await self._confirmed(caller)

    async def confirm_with_identity(self, caller: Caller, identity: Identity) -> None:
        """As `confirm_with_password`. Raises `SessionNeeded`, and `SignInRefused` for another user's identity."""
        require_session(caller)
        async with self._database.reading() as session:
            row = await find(session, identity)
        if row is None or row.user_id != caller.user.id:
            raise SignInRefused(
                "That sign-in does not belong to the account that is signed in here. Nothing was confirmed."
            )
        await self._confirmed(caller)

    async def _confirmed(self, caller: Caller) -> None:
        if caller.session_id is not None:
            await self.sessions.authenticated(caller.session_id)

    async def sign_out(self, session_token: str) -> None:
        await self.sessions.close(session_token)

    async def user_of_session(self, session_token: str) -> User | None:
        """The user of this session; `None` if it has expired, was revoked or never existed."""
        caller = await self.sessions.caller(session_token)
        return None if caller is None else caller.user


async def _in_no_course(session: AsyncSession, invitation_id: str, user_id: str) -> int:
    return 0


def _new_user(session: AsyncSession, name: str, role: Role, password_hash: str | None = None) -> UserRow:
    row = UserRow(id=new_id(), name=name, role=role, password_hash=password_hash, created_at=now())
    session.add(row)
    return row
