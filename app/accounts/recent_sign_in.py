"""Granting lasting access requires a user who has recently proved their identity.

A password, a provider, an API token or an invitation to a higher role gives access later. So a program with an API
token never gets more access than the token itself has, and a browser that was left open has to confirm again.
"""

from dataclasses import dataclass
from datetime import timedelta

from app.accounts.caller import Caller
from app.accounts.errors import SessionNeeded
from app.core.clock import now
from app.core.errors import SignInAgain


@dataclass(frozen=True, slots=True)
class RecentSignIn:
    """`life` is how long a proof of identity counts."""

    life: timedelta

    def covers(self, caller: Caller) -> bool:
        """Whether the caller is a browser in which the user signed in, or confirmed their identity, within `life`."""
        return (
            caller.session_id is not None
            and caller.authenticated_at is not None
            and now() - caller.authenticated_at <= self.life
        )

    def require(self, caller: Caller) -> None:
        """Raises `SessionNeeded` for an API token, and `SignInAgain` for a session whose proof is too old."""
        require_session(caller)
        if not self.covers(caller):
            raise SignInAgain(
                "This requires a recent sign-in. Confirm that it is you at /sign-in/again, then try again.",
                sign_in="/sign-in/again",
            )


def require_session(caller: Caller) -> None:
    """Raises `SessionNeeded`."""
    if caller.session_id is None:
        raise SessionNeeded(
            "An API token cannot do this, whatever its scopes, because the result would allow more than the token. "
            "Sign in with a browser and open your account page."
        )
