"""What a platform signed about a launch, verified: https://www.imsglobal.org/spec/security/v1p0

Only asymmetric algorithms are accepted, and only with a key that the platform publishes, so a message that is unsigned
or signed with a published key as a shared secret is refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.teaching.lti.errors import LaunchRefused

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
_LEEWAY_S = 60
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP_LINKING = "https://purl.imsglobal.org/spec/lti-dl/claim/"
_SERVICES = {
    "line_item": ("https://purl.imsglobal.org/spec/lti-ags/claim/endpoint", "lineitem"),
    "members_url": ("https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice", "context_memberships_url"),
}
_ROLES = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_OF_TEACHERS = ("Instructor", "ContentDeveloper", "Administrator", "Mentor")
# Nothing else: the origin becomes part of a header.
_HOST = re.compile(r"[A-Za-z0-9.-]+|[0-9a-f:]+")
Part = Literal["teacher", "assistant", "learner", "other"]


@dataclass(frozen=True, slots=True)
class Message:
    """The claims that are used. `return_url` and `data` belong to a request for a selection (deep linking)."""

    subject: str
    name: str
    part: Part
    deployment: str
    target: str
    context: str
    context_title: str
    resource: str
    resource_title: str
    line_item: str | None
    members_url: str | None
    return_url: str | None
    data: str | None

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> "Message":
        return cls(**json.loads(text))


def verify(id_token: str, keys: KeySet, *, issuer: str, client_id: str, nonce: str) -> Message:
    """The message of a token from this platform, for this nonce. Raises `LaunchRefused`."""
    try:
        claims = jwt.decode(id_token, keys, algorithms=ALGORITHMS).claims
        jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": client_id},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise _refused(str(error)) from None
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if claims.get("azp", None if len(audiences) > 1 else client_id) != client_id:
        raise _refused("the token was issued to another client (azp)")
    if claims.get(f"{CLAIM}version") != "1.3.0":
        raise _refused("the version is not 1.3.0")
    kind = claims.get(f"{CLAIM}message_type")
    if kind not in ("LtiResourceLinkRequest", "LtiDeepLinkingRequest"):
        raise _refused(f"the message type {kind!r:.60} is not supported")
    return _read(claims, is_selection=kind == "LtiDeepLinkingRequest")


def part_of(roles: object) -> Part:
    """The user's role in a course of the platform."""
    names = [each for each in roles if isinstance(each, str)] if isinstance(roles, list) else []
    short = {each.rpartition("#")[2] for each in names if each.startswith(_ROLES) or "/" not in each}
    if "TeachingAssistant" in short:
        return "assistant"
    if short & set(_OF_TEACHERS):
        return "teacher"
    return "learner" if "Learner" in short else "other"


def clean(text: object, longest: int) -> str:
    """One line that can be stored and shown; empty for anything but text."""
    return "".join(each for each in text if each.isprintable()).strip()[:longest] if isinstance(text, str) else ""


def web_address(url: object) -> str | None:
    """An address that a service of the platform can have; None for anything else."""
    if not isinstance(url, str) or len(url) > 1000 or not url.isascii() or not url.isprintable() or " " in url:
        return None
    return url if origin_of(url) else None


def origin_of(url: str) -> str | None:
    """Scheme, host and port of an http address, to write into a header; None if it has none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        return None
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" if port is None else f"{parts.scheme}://{name}:{port}"


def _read(claims: Mapping[str, Any], *, is_selection: bool) -> Message:
    subject, deployment = claims.get("sub"), claims.get(f"{CLAIM}deployment_id")
    if not isinstance(subject, str) or not 1 <= len(subject) <= 255 or not subject.isprintable():
        raise _refused("it names no user (sub); this service does not support anonymous launches")
    if not isinstance(deployment, str) or not 1 <= len(deployment) <= 255:
        raise _refused("it names no deployment")
    context, resource = _object(claims, f"{CLAIM}context"), _object(claims, f"{CLAIM}resource_link")
    wish = _object(claims, f"{DEEP_LINKING}deep_linking_settings") if is_selection else {}
    services = {name: web_address(_object(claims, claim).get(key)) for name, (claim, key) in _SERVICES.items()}
    data, link = wish.get("data"), resource.get("id")
    if is_selection and web_address(wish.get("deep_link_return_url")) is None:
        raise _refused("it names no address to return a selection to")
    if not is_selection and not (isinstance(link, str) and 1 <= len(link) <= 255 and link.isprintable()):
        raise _refused("it names no resource link")
    return Message(
        subject=subject,
        name=clean(claims.get("preferred_username") or claims.get("name"), 200),
        part=part_of(claims.get(f"{CLAIM}roles")),
        deployment=deployment,
        target=clean(claims.get(f"{CLAIM}target_link_uri"), 2000),
        context=clean(context.get("id"), 255),
        context_title=clean(context.get("title") or context.get("label"), 100),
        resource=link if isinstance(link, str) else "",
        resource_title=clean(resource.get("title"), 100),
        return_url=web_address(wish.get("deep_link_return_url")),
        data=data if isinstance(data, str) and len(data) <= 10_000 else None,
        **services,
    )


def _object(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = claims.get(name)
    return value if isinstance(value, dict) else {}


def _refused(why: str) -> LaunchRefused:
    return LaunchRefused(
        f"The message of the learning platform was not accepted: {why[:200]}. Nobody was signed in. Open the link "
        "there again. If that does not help, show this message to the person who registered the platform."
    )
