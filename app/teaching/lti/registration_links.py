"""Links with which a platform registers itself: signed, so nothing is stored until one is used.

A link names the owner who made it, what the platform will be called here, and when it expires. Its id becomes the id of
the platform, so it registers one platform at most.
"""

import base64
import hashlib
import hmac
import json
import time
from dataclasses import asdict, dataclass

from app.core.ids import new_id
from app.teaching.lti.errors import RegistrationRefused

LIFE_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class RegistrationLink:
    """`id` will be the platform's, and `user_id` is the owner's."""

    id: str
    user_id: str
    name: str
    grants_instructor: bool
    expires_at: int


class RegistrationLinks:
    """Issues links and recognizes them."""

    def __init__(self, deployment_secret: bytes) -> None:
        self._key = hmac.digest(deployment_secret, b"lti registration", hashlib.sha256)

    def issue(self, user_id: str, name: str, *, grants_instructor: bool) -> tuple[str, RegistrationLink]:
        """A new link, and the token by which it is recognized."""
        link = RegistrationLink(new_id(), user_id, name, grants_instructor, int(time.time()) + LIFE_S)
        text = base64.urlsafe_b64encode(json.dumps(asdict(link)).encode()).decode().rstrip("=")
        return f"{text}.{self._mac(text)}", link

    def read(self, token: str) -> RegistrationLink:
        """Raises `RegistrationRefused`."""
        text, _, mac = token.rpartition(".")
        if not hmac.compare_digest(self._mac(text).encode(), mac.encode("utf-8", "surrogatepass")):
            raise RegistrationRefused("This is not a registration link of this site. Ask an owner for a new one.")
        link = RegistrationLink(**json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))))
        if link.expires_at < time.time():
            raise RegistrationRefused("This registration link has expired. Ask an owner for a new one.")
        return link

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
