"""What a platform signed about a launch, verified: https://www.imsglobal.org/spec/security/v1p0

Only asymmetric algorithms are accepted, and only with a key that the platform publishes, so a message that is unsigned
or signed with a published key as a shared secret is refused.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeGuard
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.teaching.identities.identity import RosterIdentity
from app.teaching.lti.errors import LaunchRefused

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
_LEEWAY_S = 60
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
LINE_ITEM_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
DEEP_LINKING = "https://purl.imsglobal.org/spec/lti-dl/claim/"
_SCORES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
_SERVICES = {
    "line_item": (_SCORES, "lineitem"),
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
    # What the roster of a course keeps of the person: see `identity_of`.
    person: dict[str, str] = field(default_factory=dict)
    # Whether a selection can have several items.
    is_multiple: bool = False
    # Whether a selection can name columns of the gradebook. A platform that does not say so takes or ignores them.
    takes_columns: bool = True
    # Where the columns of the course are, if this service may create one.
    line_items_url: str | None = None
    # Whose submission is to be shown. None for any other message.
    reviewed: str | None = None

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> "Message":
        return cls(**json.loads(text))


def key_of(id_token: str) -> str:
    """The id of the key that a token names, which is not verified yet. Raises `LaunchRefused`."""
    head = id_token.partition(".")[0]
    try:
        found = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _refused("it is not a signed token (JWT)")
    key_id = found.get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise _refused("its header names no key (kid), so its signature cannot be checked")
    return key_id


def verify(id_token: str, keys: KeySet, *, issuer: str, client_id: str, nonce: str, site: str | None) -> Message:
    """The message of a token from this platform, for this nonce, to this site. Raises `LaunchRefused`."""
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
    if kind not in ("LtiResourceLinkRequest", "LtiDeepLinkingRequest", "LtiSubmissionReviewRequest"):
        raise _refused(f"the message type {kind!r:.60} is not supported")
    return _read(claims, site, str(kind))


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


def identity_of(claims: Mapping[str, Any], number: object) -> RosterIdentity:
    """Who the platform says that a person is. It need not say anything."""
    first, last = clean(claims.get("given_name"), 100), clean(claims.get("family_name"), 100)
    address = clean(claims.get("email"), 200).lower()
    return RosterIdentity(
        name=clean(claims.get("name"), 200) or f"{first} {last}".strip(),
        given_name=first,
        family_name=last,
        email=address if "@" in address else "",
        student_number=clean(number, 100),
    )


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


def _read(claims: Mapping[str, Any], site: str | None, kind: str) -> Message:
    is_selection, is_review = kind == "LtiDeepLinkingRequest", kind == "LtiSubmissionReviewRequest"
    subject, deployment = claims.get("sub"), claims.get(f"{CLAIM}deployment_id")
    if not _is_id(subject):
        raise _refused("it names no user (sub); this service does not support anonymous launches")
    if not isinstance(deployment, str) or not 1 <= len(deployment) <= 255:
        raise _refused("it names no deployment")
    if not isinstance(claims.get(f"{CLAIM}roles"), list):
        raise _refused("it has no list of roles (roles), not even an empty one")
    target = _target(claims, site, is_selection=is_selection)
    context, resource = _object(claims, f"{CLAIM}context"), _object(claims, f"{CLAIM}resource_link")
    wish = _object(claims, f"{DEEP_LINKING}deep_linking_settings") if is_selection else {}
    services = {name: web_address(_object(claims, claim).get(key)) for name, (claim, key) in _SERVICES.items()}
    data, link = wish.get("data"), resource.get("id")
    if is_selection and web_address(wish.get("deep_link_return_url")) is None:
        raise _refused("it names no address to return a selection to")
    reviewed = _object(claims, f"{CLAIM}for_user").get("user_id") if is_review else None
    if is_review and not _is_id(reviewed):
        raise _refused("it does not name whose submission to show (for_user)")
    if is_review and services["line_item"] is None:
        raise _refused("it names no column of a submission (lineitem)")
    if not (is_selection or is_review) and not _is_id(link):
        raise _refused("it names no resource link")
    return Message(
        subject=subject,
        name=clean(claims.get("preferred_username") or claims.get("name"), 200),
        part=part_of(claims.get(f"{CLAIM}roles")),
        deployment=deployment,
        target=target,
        context=clean(context.get("id"), 255),
        context_title=clean(context.get("title") or context.get("label"), 100),
        resource=link if isinstance(link, str) else "",
        resource_title=clean(resource.get("title"), 100),
        return_url=web_address(wish.get("deep_link_return_url")),
        data=data if isinstance(data, str) and len(data) <= 10_000 else None,
        person=identity_of(claims, _object(claims, f"{CLAIM}lis").get("person_sourcedid")).known,
        reviewed=reviewed,
        line_items_url=_line_items_url(_object(claims, _SCORES)),
        is_multiple=wish.get("accept_multiple") in (True, "true"),
        takes_columns=wish.get("accept_lineitem") not in (False, "false"),
        **services,
    )


def _is_id(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and 1 <= len(text) <= 255 and text.isprintable()


def _target(claims: Mapping[str, Any], site: str | None, *, is_selection: bool) -> str:
    """The address that the link leads to. Only a request for a selection, which leads nowhere, can have none."""
    target = claims.get(f"{CLAIM}target_link_uri")
    if is_selection and target is None:
        return ""
    if not isinstance(target, str) or not 1 <= len(target) <= 2000 or not target.isprintable():
        raise _refused("it names no address to open (target_link_uri)")
    if site is None or origin_of(target) != origin_of(site):
        raise _refused(f"the address to open is not on this site (target_link_uri {target!r:.80})")
    return target


def _line_items_url(service: Mapping[str, Any]) -> str | None:
    scopes = service.get("scope")
    may_create = isinstance(scopes, list) and LINE_ITEM_SCOPE in scopes
    return web_address(service.get("lineitems")) if may_create else None


def _object(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = claims.get(name)
    return value if isinstance(value, dict) else {}


def _refused(why: str) -> LaunchRefused:
    return LaunchRefused(
        f"The message of the learning platform was not accepted: {why[:200]}. Nobody was signed in. Open the link "
        "there again. If that does not help, show this message to the person who registered the platform."
    )
