"""What outlives the moment at which it is granted needs a person who has proved lately who they are.

A password, a provider, an API token or an invitation to a higher role lets somebody in later on. So a program with an
API token never gets one that reaches further than the token itself, and a browser that was left open is asked again.
"""

from dataclasses import dataclass
from datetime import timedelta

from app.accounts.caller import Caller
from app.clock import now
from app.errors import SessionNeeded, SignInAgain


@dataclass(frozen=True, slots=True)
class Recent:
    """`life` is how long a proof of identity counts."""

    life: timedelta

    def covers(self, caller: Caller) -> bool:
        """Whether the caller is a browser in which somebody signed in, or confirmed it, within `life`."""
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
                "You signed in too long ago for this. Confirm that it is you at /sign-in/again, then try again.",
                sign_in="/sign-in/again",
            )


def require_session(caller: Caller) -> None:
    """Raises `SessionNeeded`."""
    if caller.session_id is None:
        raise SessionNeeded(
            "An API token cannot do this, whatever its scopes, because the result would reach further than the token. "
            "Use a browser: sign in and open the page of your account."
        )
