"""A small OpenID Connect provider on this machine. It signs in the person that the test names.

It lies if the test says so, and also answers as GitHub does, under the same address.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "meshgrade", "secret-of-the-client"


class OIDCServer:
    """`claims` replace those of ID tokens (None leaves one out), which `key` signs; `documents` replace answers."""

    def __init__(self) -> None:
        self.issuer = ""
        self.published = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
        self._codes: dict[str, dict[str, str]] = {}
        self.be_honest()
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/jwks", self._jwks),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/login/oauth/authorize", self._authorize),
                Route("/login/oauth/access_token", self._github_token, methods=["POST"]),
                Route("/user", self._github_user),
            ]
        )

    def be_honest(self) -> None:
        self.subject, self.username, self.number = "subject-1", "ada", 4711
        self.key, self.algorithm = self.published, "RS256"
        self.claims: dict[str, object] = {}
        self.documents: dict[str, Response] = {}

    async def _discovery(self, request: Request) -> Response:
        return self.documents.get("discovery") or JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
            }
        )

    async def _jwks(self, request: Request) -> Response:
        return self.documents.get("jwks") or JSONResponse({"keys": [self.published.as_dict(private=False)]})

    async def _authorize(self, request: Request) -> Response:
        """Sign everyone in as `subject`, without asking anything."""
        asked = dict(request.query_params)
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def _redeem(self, request: Request) -> dict[str, str] | None:
        """Return the request that the code was issued for, only once and only to the client that made it."""
        form = dict(parse_qsl((await request.body()).decode()))
        asked = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        client = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if asked is None or request.headers["authorization"] != f"Basic {client}":
            return None
        if (challenge, form["redirect_uri"]) != (asked["code_challenge"], asked["redirect_uri"]):
            return None
        return asked

    async def _token(self, request: Request) -> Response:
        asked = await self._redeem(request)
        if asked is None:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": self.subject,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "preferred_username": self.username,
            "email": "owner@example.org",
        } | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": self.algorithm, "kid": "one"}
        id_token = jwt.encode(header, claims, self.key, algorithms=[self.algorithm])
        answer = {"access_token": "at", "token_type": "Bearer", "expires_in": 60, "id_token": id_token}
        return self.documents.get("token") or JSONResponse(answer)

    async def _github_token(self, request: Request) -> Response:
        if await self._redeem(request) is None:
            return JSONResponse({"error": "bad_verification_code"})  # with 200, as GitHub does
        return JSONResponse({"access_token": "github-token", "token_type": "bearer", "scope": ""})

    async def _github_user(self, request: Request) -> Response:
        if request.headers.get("authorization") != "Bearer github-token":
            return JSONResponse({}, status_code=401)
        return JSONResponse({"id": self.number, "login": self.username, "email": "owner@example.org"})


@contextmanager
def run_provider() -> Iterator[OIDCServer]:
    provider = OIDCServer()
    with serve(provider.app) as address:
        provider.issuer = address
        yield provider


@contextmanager
def serve(app: Starlette) -> Iterator[str]:
    """Run an app in a thread until the block ends. Yields its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    started = threading.Event()
    startup = server.startup

    async def start(sockets: object = None) -> None:
        await startup(sockets)
        started.set()

    server.startup = start
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(60)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
