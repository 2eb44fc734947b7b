"""What a platform says of itself when it registers a tool, and what this tool says of itself in return.

https://www.imsglobal.org/spec/lti-dr/v1p0
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from app.teaching.lti.errors import RegistrationRefused
from app.teaching.lti.messages import LINE_ITEM_SCOPE
from app.teaching.lti.platform_requests import MEMBERS_SCOPE, SCORE_SCOPE

TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
_SCOPES = (SCORE_SCOPE, LINE_ITEM_SCOPE, MEMBERS_SCOPE)
# Not every platform knows it, and one that does not may refuse the whole registration.
_REVIEW = "LtiSubmissionReviewRequest"
_CLAIMS = ("iss", "sub", "name", "given_name", "family_name", "email")
# Canvas in the cloud has one issuer for all schools, and describes itself at the host that signs people in.
_ISSUERS = {"sso.canvaslms.com": "canvas.instructure.com"}


@dataclass(frozen=True, slots=True)
class PlatformConfiguration:
    """`scopes` are those that the platform offers; None if it does not say."""

    issuer: str
    login_url: str
    token_url: str
    keys_url: str
    registration_url: str
    scopes: frozenset[str] | None
    messages: frozenset[str]


def read_configuration(address: str, document: Mapping[str, Any]) -> PlatformConfiguration:
    """The configuration that was found at this address. Raises `RegistrationRefused`."""
    host = _host(address)
    issuer, registration = _text(document, "issuer"), _text(document, "registration_endpoint")
    if _host(issuer) not in (host, _ISSUERS.get(host)):
        raise RegistrationRefused(
            f"The configuration comes from {host!r}, but its issuer is {issuer[:100]!r}. Both must have the same host. "
            "Register the platform with the form on the page Learning platforms if this is right."
        )
    if _host(registration) != host:
        raise RegistrationRefused(
            f"The configuration comes from {host!r}, but its registration_endpoint is {registration[:100]!r}. "
            "Both must have the same host."
        )
    about = document.get(PLATFORM)
    messages = about.get("messages_supported") if isinstance(about, dict) else None
    kinds = [each.get("type") for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
    if "LtiResourceLinkRequest" not in kinds:
        raise RegistrationRefused(
            "The configuration does not list LtiResourceLinkRequest among its messages_supported, so the platform "
            "cannot open this service."
        )
    scopes = document.get("scopes_supported")
    return PlatformConfiguration(
        issuer=issuer,
        login_url=_text(document, "authorization_endpoint"),
        token_url=_text(document, "token_endpoint"),
        keys_url=_text(document, "jwks_uri"),
        registration_url=registration,
        messages=frozenset(each for each in kinds if isinstance(each, str)),
        scopes=frozenset(each for each in scopes if isinstance(each, str)) if isinstance(scopes, list) else None,
    )


def registration_of(site: str, platform: PlatformConfiguration) -> dict[str, Any]:
    """What the platform gets to know about this service."""
    launch = f"{site}/lti/launch"
    messages = {"LtiResourceLinkRequest": "Meshgrade", "LtiDeepLinkingRequest": "Choose from Meshgrade"}
    if _REVIEW in platform.messages:
        messages[_REVIEW] = "Attempts in Meshgrade"
    return {
        "application_type": "web",
        "client_name": "Meshgrade",
        "client_uri": site,
        "response_types": ["id_token"],
        "grant_types": ["client_credentials", "implicit"],
        "initiate_login_uri": f"{site}/lti/login",
        "redirect_uris": [launch],
        "jwks_uri": f"{site}/lti/jwks.json",
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(each for each in _SCOPES if platform.scopes is None or each in platform.scopes),
        TOOL: {
            "domain": urlsplit(site).netloc,
            "description": "Practice problems in distributed JAX, graded by the compiled program",
            "target_link_uri": launch,
            "claims": list(_CLAIMS),
            "messages": [{"type": kind, "target_link_uri": launch, "label": label} for kind, label in messages.items()],
        },
    }


def read_registration(document: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The client id, and the deployments, that the platform gave. Raises `RegistrationRefused`."""
    about = document.get(TOOL)
    deployment = about.get("deployment_id") if isinstance(about, dict) else None
    return _text(document, "client_id"), (deployment,) if isinstance(deployment, str) and deployment else ()


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str) or not value:
        raise RegistrationRefused(f"The learning platform's response has no {name}. Nothing was registered here.")
    return value


def _host(address: str) -> str:
    try:
        return urlsplit(address).netloc.lower()
    except ValueError:
        return ""
