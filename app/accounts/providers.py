"""Sign-in providers: any that speaks OpenID Connect, and GitHub, which has its own API for the user's identity."""

import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import httpx
from authlib.common.errors import AuthlibBaseError
from authlib.deprecate import AuthlibDeprecationWarning
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.accounts.errors import ProviderFailed
from app.accounts.identities import Identity
from app.accounts.provider_flow import FLOW_LIFE_S, Flow
from app.core.settings import Settings
from app.core.start_errors import SettingInvalid

with warnings.catch_warnings():
    # It prefers httpx2, but uses nothing of it that httpx cannot do.
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import AsyncOAuth2Client

log = logging.getLogger(__name__)
_TIMEOUT_S = 10.0
# Only those with a public key: with HS256, a leaked client secret could forge any identity.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
_LEEWAY_S = 60
# A user who confirms their identity types their password there, even if the provider still knows the browser.
_ASK_AGAIN = {"prompt": "login", "max_age": "0"}
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Provider(Protocol):
    """Addresses contain `key`, the button shows `label`, identities have `issuer`. Methods raise `ProviderFailed`."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def issuer(self) -> str: ...

    async def address(self, flow: Flow, return_to: str) -> str:
        """The address where the browser signs in."""
        ...

    async def identify(self, flow: Flow, return_to: str, code: str) -> Identity:
        """The identity of the user who came back with this code."""
        ...


class Providers(dict[str, Provider]):
    """The providers that are set up, by a key such as "github"."""


def build_providers(settings: Settings) -> Providers:
    """The providers that are set up. Raises `SettingInvalid` if the settings of one are incomplete."""
    providers: list[Provider] = []
    oidc, github = settings.oidc_client_secret, settings.github_client_secret
    if settings.oidc_issuer or settings.oidc_client_id or oidc:
        if not settings.oidc_issuer:
            raise SettingInvalid("oidc_issuer", "oidc_client_id and oidc_client_secret require it")
        if not settings.oidc_client_id or oidc is None:
            missing = "oidc_client_secret" if settings.oidc_client_id else "oidc_client_id"
            raise SettingInvalid(missing, "oidc_issuer requires it")
        if not _is_safe(settings.oidc_issuer):
            raise SettingInvalid("oidc_issuer", "it must be an https address, except on this machine")
        client = _Client(settings.oidc_client_id, oidc.get_secret_value())
        providers.append(OIDCProvider(settings.oidc_issuer, client, settings.oidc_name))
    if settings.github_client_id or github:
        if not settings.github_client_id or github is None:
            missing = "github_client_secret" if settings.github_client_id else "github_client_id"
            raise SettingInvalid(missing, "GitHub requires both the id and the secret")
        providers.append(GitHubProvider(_Client(settings.github_client_id, github.get_secret_value())))
    if providers and settings.site is None:
        raise SettingInvalid(
            "public_url", "providers need it to send people back, because host does not name one address"
        )
    return Providers((provider.key, provider) for provider in providers)


@dataclass(frozen=True, slots=True)
class _Client:
    client_id: str
    secret: str

    def open(self, return_to: str, scope: str | None) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            self.client_id,
            self.secret,
            scope=scope,
            redirect_uri=return_to,
            code_challenge_method="S256",
            timeout=_TIMEOUT_S,
        )


@dataclass(frozen=True, slots=True)
class OIDCProvider:
    """Its documents are read again for each sign-in, so it can change its keys at any time."""

    issuer: str
    client: _Client
    label: str
    key: str = "oidc"

    async def address(self, flow: Flow, return_to: str) -> str:
        with _failures(self.label):
            async with self.client.open(return_to, "openid profile") as http:
                metadata = await self._metadata(http)
                url, _ = http.create_authorization_url(
                    _endpoint(metadata, "authorization_endpoint"),
                    state=flow.state,
                    nonce=flow.nonce,
                    code_verifier=flow.verifier,
                    **(_ASK_AGAIN if flow.purpose == "confirm" else {}),
                )
                return str(url)

    async def identify(self, flow: Flow, return_to: str, code: str) -> Identity:
        with _failures(self.label):
            async with self.client.open(return_to, "openid profile") as http:
                metadata = await self._metadata(http)
                token = await http.fetch_token(
                    _endpoint(metadata, "token_endpoint"), code=code, code_verifier=flow.verifier
                )
                keys = KeySet.import_key_set(cast(Any, await _read(http, _endpoint(metadata, "jwks_uri"))))
                return self._verify(token["id_token"], keys, flow)

    async def _metadata(self, http: AsyncOAuth2Client) -> Mapping[str, Any]:
        metadata = await _read(http, f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if metadata["issuer"] != self.issuer:
            raise ValueError(f"its metadata names the issuer {metadata['issuer']!r:.200}")
        return metadata

    def _verify(self, id_token: str, keys: KeySet, flow: Flow) -> Identity:
        """Source: https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation"""
        claims = jwt.decode(id_token, keys, algorithms=_ALGORITHMS).claims
        jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_S,
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": self.client.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": flow.nonce},
        ).validate(claims)
        if flow.purpose == "confirm":
            _refuse_an_old_sign_in(claims.get("auth_time"))
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if claims.get("azp", None if len(audiences) > 1 else self.client.client_id) != self.client.client_id:
            raise ValueError("the ID token is for another client")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 1 <= len(subject) <= 255 or not subject.isprintable():
            raise ValueError("the ID token has no usable subject")
        return Identity(self.issuer, subject, _name(claims.get("preferred_username") or claims.get("name")))


@dataclass(frozen=True, slots=True)
class GitHubProvider:
    """OAuth without OpenID: no scope is requested, and the number of the account identifies the user."""

    client: _Client
    issuer: str = "https://github.com"
    api: str = "https://api.github.com"
    label: str = "GitHub"
    key: str = "github"

    async def address(self, flow: Flow, return_to: str) -> str:
        async with self.client.open(return_to, None) as http:
            url, _ = http.create_authorization_url(
                f"{self.issuer}/login/oauth/authorize", state=flow.state, code_verifier=flow.verifier
            )
            return str(url)

    async def identify(self, flow: Flow, return_to: str, code: str) -> Identity:
        with _failures(self.label):
            async with self.client.open(return_to, None) as http:
                await http.fetch_token(
                    f"{self.issuer}/login/oauth/access_token",
                    code=code,
                    code_verifier=flow.verifier,
                    headers={"Accept": "application/json"},
                )
                user = await _read(http, f"{self.api}/user", signed_in=True)
                if type(user["id"]) is not int:
                    raise ValueError("the account has no number")
                return Identity(self.issuer, str(user["id"]), _name(user.get("login")))


def _refuse_an_old_sign_in(auth_time: object) -> None:
    """Raises `ValueError`. If the provider does not say when the user signed in, it is trusted to have asked again."""
    if auth_time is None:
        return
    if not isinstance(auth_time, int | float) or not auth_time >= time.time() - FLOW_LIFE_S - _LEEWAY_S:
        raise ValueError("the provider did not ask the user to sign in again")


async def _read(http: AsyncOAuth2Client, url: str, *, signed_in: bool = False) -> Mapping[str, Any]:
    # A provider's public documents may be on another host, which must not get the token.
    response = await http.request("GET", url, headers={"Accept": "application/json"}, withhold_token=not signed_in)
    response.raise_for_status()
    document = response.json()
    if not isinstance(document, dict):
        raise ValueError(f"{url} is not a JSON object")
    return document


def _endpoint(metadata: Mapping[str, Any], name: str) -> str:
    url = metadata[name]
    if not isinstance(url, str) or not _is_safe(url):
        raise ValueError(f"its {name} is not https")
    return url


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def _name(name: object) -> str:
    return "".join(letter for letter in name if letter.isprintable())[:200] if isinstance(name, str) else ""


@contextmanager
def _failures(label: str) -> Iterator[None]:
    """Any wrong response is the fault of the provider or the operator. It signs nobody in."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, AuthlibBaseError, JoseError, KeyError, ValueError, TypeError) as error:
        # Responses can contain tokens, so only the kind of the error and our own words are logged.
        detail = str(error)[:200] if isinstance(error, JoseError | httpx.HTTPError) else ""
        log.warning("the sign-in with %s failed: %s %s", label, type(error).__name__, detail)
        raise ProviderFailed(
            f"The sign-in with {label} failed because it did not respond correctly. Nobody was signed in. "
            "Try again in a moment. The operator can find the cause in the log."
        ) from None
