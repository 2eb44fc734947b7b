"""Providers, API tokens and invitations, which all give access later. recent_sign_in.py decides who may add one."""

from collections.abc import Iterable

from app.accounts.caller import Caller
from app.accounts.identities import Identities, Identity
from app.accounts.invitations import Invitation, Invitations
from app.accounts.recent_sign_in import RecentSignIn
from app.accounts.roles import Role, Scope
from app.accounts.tokens import Token, Tokens


class Grants:
    """Safe to share between requests. REST and the pages use this instead of the tables' writers."""

    def __init__(self, recent: RecentSignIn, tokens: Tokens, invitations: Invitations, identities: Identities) -> None:
        self._recent = recent
        self._tokens = tokens
        self._invitations = invitations
        self._identities = identities

    async def add_identity(self, caller: Caller, identity: Identity) -> None:
        """Raises `SessionNeeded`, `SignInAgain` and `IdentityTaken`."""
        self._recent.require(caller)
        await self._identities.link(caller.user, identity)

    async def remove_identity(self, caller: Caller, identity_id: str) -> None:
        """Raises `SessionNeeded`, `SignInAgain` and the errors of `Identities.remove`."""
        self._recent.require(caller)
        await self._identities.remove(caller.user, identity_id)

    async def create_token(
        self, caller: Caller, name: str, scopes: Iterable[Scope], expires_in_days: int | None
    ) -> tuple[str, Token]:
        """As `Tokens.create`, which lets an API token create others within its own scopes and lifetime.

        Raises:
          SignInAgain: a session may create any token, so its sign-in must be recent.
          FieldInvalid, ScopeMissing, TooManyTokens.
        """
        if caller.session_id is not None:
            self._recent.require(caller)
        return await self._tokens.create(caller, name, scopes, expires_in_days)

    async def invite(self, caller: Caller, role: Role, note: str, expires_in_days: int) -> tuple[str, Invitation]:
        """As `Invitations.create`. An instructor's or owner's account may do more than any API token.

        Raises:
          SessionNeeded, SignInAgain: for a role above student.
          FieldInvalid, RoleMissing, TooManyInvitations.
        """
        if role != "student":
            self._recent.require(caller)
        return await self._invitations.create(caller.user, role, note, expires_in_days)
