"""One sign-in with a provider, from the button to the return: everything that must match derives from one cookie.

The cookie is a secret of chance, what is to be done, and with which provider. State, nonce and PKCE verifier are HMACs
under the secret, so nothing needs to be stored here, and whoever returns without the cookie has none of them. Adding a
provider to an account binds the state to its session as well: no other browser's flow can be finished in it.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Literal, cast, get_args

FLOW_COOKIE = "meshgrade_flow"
FLOW_LIFE_S = 600
Purpose = Literal["sign-in", "link"]


@dataclass(frozen=True, slots=True)
class Flow:
    secret: str
    purpose: Purpose
    provider: str
    invitation: str | None
    session_token: str

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
        return f"{self.secret}.{self.purpose}.{self.provider}.{self.invitation or ''}"

    def is_state(self, given: str) -> bool:
        return hmac.compare_digest(self.state.encode(), given.encode("utf-8", "surrogatepass"))

    def _derive(self, what: str) -> str:
        key = self.secret.encode("utf-8", "surrogatepass")
        return hmac.new(key, what.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def begin_flow(purpose: Purpose, provider: str, *, invitation: str | None = None, session_token: str = "") -> Flow:
    return Flow(secrets.token_urlsafe(32), purpose, provider, invitation, session_token)


def read_flow(cookie: str, session_token: str) -> Flow | None:
    """The flow that this browser began; `None` for a cookie that is none of ours."""
    parts = cookie.split(".")
    if len(parts) != 4 or parts[1] not in get_args(Purpose) or len(parts[0]) < 43:
        return None
    purpose = cast(Purpose, parts[1])
    return Flow(parts[0], purpose, parts[2], parts[3] or None, session_token if purpose == "link" else "")
