"""One sign-in with a provider, from the button to the return. Everything that must match is derived from one cookie.

The cookie contains a random secret, the purpose, the provider, and the page to continue with. State, nonce and PKCE
verifier are HMACs with the secret as key, so the service stores nothing, and a browser without the cookie has none of
them. Adding a provider to an account and confirming an identity also bind the state to the session: the flow of another
browser cannot be finished in it.
"""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal, cast, get_args

FLOW_COOKIE = "meshgrade_flow"
FLOW_LIFE_S = 600
Purpose = Literal["sign-in", "link", "confirm"]
# The purposes that belong to one signed-in browser.
_OF_A_SESSION = ("link", "confirm")


@dataclass(frozen=True, slots=True)
class Flow:
    secret: str
    purpose: Purpose
    provider: str
    invitation: str | None
    session_token: str
    page: str = ""

    @property
    def state(self) -> str:
        return self._derive(f"state {self.purpose} {self.provider} {self.session_token}")

    @property
    def nonce(self) -> str:
        return self._derive("nonce")

    @property
    def verifier(self) -> str:
        return self._derive("code verifier")

    @property
    def cookie(self) -> str:
        page = urlsafe_b64encode(self.page.encode("utf-8", "surrogatepass")).decode().rstrip("=")
        return f"{self.secret}.{self.purpose}.{self.provider}.{self.invitation or ''}.{page}"

    def is_state(self, state: str) -> bool:
        return hmac.compare_digest(self.state.encode(), state.encode("utf-8", "surrogatepass"))

    def _derive(self, what: str) -> str:
        key = self.secret.encode("utf-8", "surrogatepass")
        return hmac.new(key, what.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def begin_flow(
    purpose: Purpose, provider: str, *, invitation: str | None = None, session_token: str = "", page: str = ""
) -> Flow:
    return Flow(secrets.token_urlsafe(32), purpose, provider, invitation, session_token, page)


def read_flow(cookie: str, session_token: str) -> Flow | None:
    """The flow that this browser began; `None` if the cookie is not ours."""
    parts = cookie.split(".")
    if len(parts) != 5 or parts[1] not in get_args(Purpose) or len(parts[0]) < 43:
        return None
    purpose = cast(Purpose, parts[1])
    try:
        page = urlsafe_b64decode(parts[4] + "=" * (-len(parts[4]) % 4)).decode()
    except ValueError:  # also UnicodeDecodeError
        return None
    bound_to = session_token if purpose in _OF_A_SESSION else ""
    return Flow(parts[0], purpose, parts[2], parts[3] or None, bound_to, page)
