"""What lets somebody in later on: providers, API tokens and invitations. Who may add one: recent.py."""

from collections.abc import Iterable

from app.accounts.caller import Caller
from app.accounts.identities import Identities, Identity
from app.accounts.invitations import Invitations, InvitationView
from app.accounts.recent import Recent
from app.accounts.roles import Role, Scope
from app.accounts.tokens import Tokens, TokenView


class Grants:
    """Safe to share between requests. What REST and the pages go through, and not the tables' own writers."""

    def __init__(self, recent: Recent, tokens: Tokens, invitations: Invitations, identities: Identities) -> None:
        self._recent = recent
        self._tokens = tokens
        self._invitations = invitations
        self._identities = identities

    async def add_identity(self, caller: Caller, identity: Identity) -> None:
        """Raises `SessionNeeded`, `SignInAgain` and `IdentityTaken`."""
        self._recent.require(caller)
        await self._identities.link(caller.user, identity)

    async def remove_identity(self, caller: Caller, identity_id: str) -> None:
        """Raises `SessionNeeded`, `SignInAgain` and what `Identities.remove` does."""
        self._recent.require(caller)
        await self._identities.remove(caller.user, identity_id)

    async def create_token(
        self, caller: Caller, name: str, scopes: Iterable[Scope], expires_in_days: int | None
    ) -> tuple[str, TokenView]:
        """As `Tokens.create`, which lets an API token make others within its own scopes and life.

        Raises:
          SignInAgain: a session may make any token, so it must be recent.
          FieldInvalid, ScopeMissing, TooManyTokens.
        """
        if caller.session_id is not None:
            self._recent.require(caller)
        return await self._tokens.create(caller, name, scopes, expires_in_days)

    async def invite(self, caller: Caller, role: Role, note: str, expires_in_days: int) -> tuple[str, InvitationView]:
        """As `Invitations.create`. The account of an instructor or owner reaches further than any API token.

        Raises:
          SessionNeeded, SignInAgain: for a role above student.
          FieldInvalid, RoleMissing, TooManyInvitations.
        """
        if role != "student":
            self._recent.require(caller)
        return await self._invitations.create(caller.user, role, note, expires_in_days)
