"""The state between the beginning of a launch and its message: signed, so nothing is stored for a stranger.

The state names the platform, a random value, the hash of a cookie of the browser that began, and when it expires. The
nonce is derived from the state, so a message belongs to exactly one state.
"""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass

from app.accounts.digest import digest
from app.teaching.lti.errors import LaunchRefused

LIFE_S = 600
BROWSER_COOKIE = "meshgrade_lti"


@dataclass(frozen=True, slots=True)
class State:
    platform_id: str
    browser_hash: str
    expires_at: int


class States:
    """Issues states and recognizes them."""

    def __init__(self, deployment_secret: bytes) -> None:
        self._key = hmac.digest(deployment_secret, b"lti state", hashlib.sha256)

    def issue(self, platform_id: str, browser: str) -> str:
        fields = (platform_id, secrets.token_urlsafe(16), digest(browser), str(int(time.time()) + LIFE_S))
        text = ".".join(fields)
        return f"{text}.{self._mac('state', text)}"

    def read(self, state: str) -> State:
        """Raises `LaunchRefused`."""
        text, _, mac = state.rpartition(".")
        fields = text.split(".")
        if not hmac.compare_digest(self._mac("state", text).encode(), mac.encode("utf-8", "surrogatepass")):
            raise LaunchRefused("This launch did not begin here. Open the link in the learning platform again.")
        platform_id, _, browser_hash, expires_at = fields
        if int(expires_at) < time.time():
            raise LaunchRefused("This launch has expired. Open the link in the learning platform again.")
        return State(platform_id, browser_hash, int(expires_at))

    def nonce(self, state: str) -> str:
        return self._mac("nonce", state)

    def _mac(self, what: str, text: str) -> str:
        return hmac.new(self._key, f"{what} {text}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
