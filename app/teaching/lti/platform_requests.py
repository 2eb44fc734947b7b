"""Requests to a platform: its keys, an access token, the members of a course, a score."""

import json
import time
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlencode, urljoin

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.core.ids import new_id
from app.core.outbound_requests import FAULTS, Outside, Reply
from app.core.sealed_keys import ALGORITHM
from app.teaching.lti.errors import PlatformFailed
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.messages import LINE_ITEM_SCOPE, web_address
from app.teaching.lti.platforms import Platform

SCORE_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
MEMBERS_SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
_MEMBERS_TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
_SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
_ITEM_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
_ITEMS_TYPE = "application/vnd.ims.lis.v2.lineitemcontainer+json"
_KEYS_LIFE_S = 300.0
# At the soonest, keys are read again after this time, however many messages name an unknown key.
_KEYS_PAUSE_S = 10.0
_ASSERTION_LIFE_S = 60
_MOST_PAGES = 40


class PlatformRequests:
    """Safe to share between requests. Every method raises `PlatformFailed`."""

    def __init__(self, outside: Outside, keys: ToolKeys) -> None:
        self._outside = outside
        self._keys = keys
        self._key_sets: dict[str, tuple[float, KeySet]] = {}
        self._tokens: dict[tuple[str, str], tuple[float, str]] = {}

    async def key_set(self, platform: Platform, key_id: str) -> KeySet:
        """The keys that it publishes. They are read again after some minutes, or sooner for a key that is not known."""
        read_at, keys = self._key_sets.get(platform.keys_url, (float("-inf"), KeySet([])))
        age = time.monotonic() - read_at
        is_new = key_id not in {each.kid for each in keys.keys}
        if age > _KEYS_LIFE_S or (is_new and age > _KEYS_PAUSE_S):
            document = _json(await self._ask("its keys", "GET", platform.keys_url, {"accept": "application/json"}))
            try:
                keys = KeySet.import_key_set(cast(Any, document))
            except (JoseError, ValueError, TypeError, KeyError):
                raise _failed("its keys are not a JSON Web Key Set") from None
            self._key_sets[platform.keys_url] = (time.monotonic(), keys)
        return keys

    async def members(self, platform: Platform, url: str) -> list[dict[str, Any]]:
        """The members of a course, from all pages of the platform's response."""
        members: list[dict[str, Any]] = []
        token = await self._token(platform, MEMBERS_SCOPE)
        headers = {"authorization": f"Bearer {token}", "accept": _MEMBERS_TYPE}
        page = url
        for _ in range(_MOST_PAGES):
            reply = await self._ask("its roster", "GET", page, headers)
            entries = _json(reply).get("members")
            if not isinstance(entries, list):
                raise _failed("its roster has no list of members")
            members += [each for each in entries if isinstance(each, dict)]
            further = _next_page(page, reply.headers.get("link", ""))
            if further is None:
                return members
            page = further
        raise _failed(f"its roster has more than {_MOST_PAGES} pages")

    async def line_items(self, platform: Platform, url: str, resource: str) -> list[dict[str, Any]]:
        """The columns of a link, by its id."""
        headers = await self._headers(platform, LINE_ITEM_SCOPE) | {"accept": _ITEMS_TYPE}
        query = urlencode({"resource_link_id": resource, "limit": 10})
        reply = await self._ask("its columns", "GET", f"{url}{'&' if '?' in url else '?'}{query}", headers)
        found = _parsed(reply)
        if not isinstance(found, list):
            raise _failed("its columns are not a list")
        # A platform that does not know the filter sends every column.
        return [each for each in found if isinstance(each, dict) and each.get("resourceLinkId") == resource]

    async def add_line_item(self, platform: Platform, url: str, item: dict[str, Any]) -> dict[str, Any]:
        """Create a column. Returns it as the platform stored it."""
        headers = await self._headers(platform, LINE_ITEM_SCOPE) | {"content-type": _ITEM_TYPE, "accept": _ITEM_TYPE}
        body = json.dumps(item).encode()
        return _json(await self._ask("a new column", "POST", url, headers, body, expected=(200, 201)))

    async def _headers(self, platform: Platform, scope: str) -> dict[str, str]:
        return {"authorization": f"Bearer {await self._token(platform, scope)}"}

    async def score(self, platform: Platform, line_item: str, score: dict[str, Any]) -> int:
        """Send a score. Returns the HTTP status. Also raises what `Outside.fetch` raises."""
        token = await self._token(platform, SCORE_SCOPE)
        address, mark, query = line_item.partition("?")
        headers = {"authorization": f"Bearer {token}", "content-type": _SCORE_TYPE, "user-agent": "Meshgrade-LTI/1"}
        reply = await self._outside.fetch("POST", f"{address}/scores{mark}{query}", headers, json.dumps(score).encode())
        if reply.status == 401:
            self._tokens.pop((platform.id, SCORE_SCOPE), None)
        return reply.status

    async def _token(self, platform: Platform, scope: str) -> str:
        """An access token for one scope: https://www.imsglobal.org/spec/security/v1p0#using-json-web-tokens"""
        until, token = self._tokens.get((platform.id, scope), (0.0, ""))
        if until > time.monotonic():
            return token
        moment = int(time.time())
        assertion = await self.signed(
            {
                "iss": platform.client_id,
                "sub": platform.client_id,
                "aud": platform.token_url,
                "iat": moment,
                "exp": moment + _ASSERTION_LIFE_S,
                "jti": new_id(),
            }
        )
        fields = {
            "grant_type": "client_credentials",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": assertion,
            "scope": scope,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        answer = _json(await self._ask("a token", "POST", platform.token_url, headers, urlencode(fields).encode()))
        fresh, life = answer.get("access_token"), answer.get("expires_in", 0)
        if not isinstance(fresh, str):
            raise _failed("its response has no access token")
        fresh = bearer(fresh)
        life_s = min(float(life), 3600.0) if isinstance(life, int | float) else 0.0
        self._tokens[platform.id, scope] = (time.monotonic() + life_s - 60, fresh)
        return fresh

    async def configuration(self, url: str) -> dict[str, Any]:
        """What a platform that registers itself says of itself."""
        return _json(await self._ask("its configuration", "GET", url, {"accept": "application/json"}))

    async def register(self, url: str, token: str, registration: dict[str, Any]) -> dict[str, Any]:
        """Register this tool with a platform. Returns what the platform stored."""
        headers = {"content-type": "application/json", "accept": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {bearer(token)}"
        body = json.dumps(registration).encode()
        return _json(await self._ask("a registration", "POST", url, headers, body, expected=(200, 201)))

    async def signed(self, claims: dict[str, Any]) -> str:
        """A JWT from this tool."""
        key = await self._keys.signing()
        return jwt.encode({"alg": ALGORITHM, "kid": key.kid}, claims, key)

    async def _ask(
        self,
        what: str,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes = b"",
        *,
        expected: Sequence[int] = (200,),
    ) -> Reply:
        try:
            reply = await self._outside.fetch(method, url, headers, body)
        except FAULTS as error:
            raise _failed(f"no response for {what}: {fault_text(error)}") from None
        if reply.status not in expected:
            raise _failed(f"it did not send {what}: HTTP {reply.status}")
        return reply


def bearer(token: str) -> str:
    """A token that can be written into a header. Raises `PlatformFailed`."""
    if not token.isascii() or not token.isprintable() or len(token) > 8000:
        raise _failed("its token is not one line of at most 8000 ASCII characters")
    return token


def fault_text(error: BaseException) -> str:
    """The kind of the fault. An `OSError` of ours says why no connection was made."""
    return str(error)[:150] if isinstance(error, OSError) and str(error) else type(error).__name__


def _parsed(reply: Reply) -> object:
    """None if it is not JSON."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return None


def _json(reply: Reply) -> dict[str, Any]:
    document = _parsed(reply)
    if not isinstance(document, dict):
        raise _failed("its response is not a JSON object")
    return document


def _next_page(page: str, links: str) -> str | None:
    for part in _parts(links):
        address, _, parameters = part.partition(">")
        if 'rel="next"' in parameters or "rel=next" in parameters:
            return web_address(urljoin(page, address.strip().lstrip("<")))
    return None


def _parts(links: str) -> Sequence[str]:
    return links.split(", <")


def _failed(why: str) -> PlatformFailed:
    return PlatformFailed(f"The learning platform did not respond correctly: {why[:200]}. Try again in a moment.")
