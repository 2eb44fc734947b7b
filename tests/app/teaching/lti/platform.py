"""A learning platform on this machine, which signs its messages with RSA keys and requires signed requests for tokens.

It follows https://www.imsglobal.org/spec/lti/v1p3, and lies if the test says so.
"""

import json
import time
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CLIENT_ID, DEPLOYMENT, SITE = "client-1", "deployment-1", "http://meshgrade.test"
LTI = "https://purl.imsglobal.org/spec/lti/claim/"
DL = "https://purl.imsglobal.org/spec/lti-dl/claim/"
ENDPOINT = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"


class LearningPlatform:
    """`tool_keys` reads the published keys of the tool. `scores` are those that arrived, as (line item, score)."""

    def __init__(self) -> None:
        self.address = ""
        self.key = RSAKey.generate_key(2048, {"kid": "platform-key", "use": "sig"})
        self.forger = RSAKey.generate_key(2048, {"kid": "platform-key"})
        self.be_honest()
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._configuration),
                Route("/register", self._register, methods=["POST"]),
                Route("/jwks", self._jwks),
                Route("/token", self._token, methods=["POST"]),
                Route("/members", self._members),
                Route("/items", self._items, methods=["GET", "POST"]),
                Route("/items/{item}/scores", self._score, methods=["POST"]),
            ]
        )

    def be_honest(self) -> None:
        self.scores: list[tuple[str, dict[str, Any]]] = []
        self.pages: list[list[dict[str, Any]]] = [[]]
        self.refusals: list[int] = []
        self.tool_keys: dict[str, Any] = {"keys": []}
        self.assertions: set[str] = set()
        self.key_reads = 0
        self.items: list[dict[str, Any]] = []
        self.configuration_changes: dict[str, Any] = {}
        self.registered: list[tuple[str | None, dict[str, Any]]] = []
        self.deployment: str | None = DEPLOYMENT

    @property
    def registration(self) -> dict[str, Any]:
        return {
            "name": "Canvas",
            "issuer": self.address,
            "client_id": CLIENT_ID,
            "login_url": f"{self.address}/login",
            "token_url": f"{self.address}/token",
            "keys_url": f"{self.address}/jwks",
            "deployments": [DEPLOYMENT],
            "grants_instructor": False,
        }

    def claims(self, nonce: str, /, **changes: Any) -> dict[str, Any]:
        """The claims of a student who opens the problem add_one. `None` leaves one out."""
        moment = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT_ID,
            "sub": "subject-1",
            "name": "Ada Lovelace",
            "email": "owner@example.org",
            "iat": moment,
            "exp": moment + 300,
            "nonce": nonce,
            f"{LTI}version": "1.3.0",
            f"{LTI}message_type": "LtiResourceLinkRequest",
            f"{LTI}deployment_id": DEPLOYMENT,
            f"{LTI}target_link_uri": f"{SITE}/problems/add_one",
            f"{LTI}resource_link": {"id": "link-1", "title": "Add one"},
            f"{LTI}context": {"id": "course-1", "title": "JAX at school"},
            f"{LTI}roles": [f"{ROLE}Learner"],
            ENDPOINT: {
                "scope": ["https://purl.imsglobal.org/spec/lti-ags/scope/score"],
                "lineitem": f"{self.address}/items/1?type=2",
            },
            "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice": {
                "context_memberships_url": f"{self.address}/members"
            },
        }
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def selection(self, **changes: Any) -> dict[str, Any]:
        """Return the changes to the claims that make a teacher's request for a selection."""
        return {
            f"{LTI}message_type": "LtiDeepLinkingRequest",
            f"{LTI}resource_link": None,
            f"{LTI}roles": [f"{ROLE}Instructor"],
            "sub": "teacher-1",
            "name": "Tess",
            f"{DL}deep_linking_settings": {
                "deep_link_return_url": f"{self.address}/return",
                "accept_types": ["ltiResourceLink"],
                "accept_presentation_document_targets": ["iframe", "window"],
                "data": "opaque",
            },
        } | changes

    def sign(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": "platform-key"}, claims, self.key)

    async def begin(self, http: httpx.AsyncClient, **changes: str) -> dict[str, str]:
        """Send the first request of a launch. Returns what the tool asks the platform."""
        hint = {"iss": self.address, "login_hint": "hint", "target_link_uri": SITE, "client_id": CLIENT_ID} | changes
        answer = await http.get("/lti/login", params={"lti_message_hint": "m", **hint})
        assert answer.status_code == 302, answer.text
        address = urlsplit(answer.headers["location"])
        assert f"{address.scheme}://{address.netloc}{address.path}" == f"{self.address}/login"
        asked = {name: value[0] for name, value in parse_qs(address.query).items()}
        assert (asked["response_type"], asked["response_mode"], asked["prompt"]) == ("id_token", "form_post", "none")
        assert asked["redirect_uri"] == f"{SITE}/lti/launch"
        return asked

    async def launch(
        self, http: httpx.AsyncClient, *, in_frame: bool = False, claims: dict[str, Any] | None = None
    ) -> httpx.Response:
        """Send both requests of a launch. Returns the page to which the second one leads, or its refusal."""
        asked = await self.begin(http)
        token = self.sign(self.claims(asked["nonce"], **(claims or {})))
        return await self.send(http, token, asked["state"], in_frame=in_frame)

    async def send(self, http: httpx.AsyncClient, token: str, state: str, *, in_frame: bool = False) -> httpx.Response:
        headers = {
            "Origin": self.address,
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Dest": "iframe" if in_frame else "document",
        }
        answer = await http.post("/lti/launch", data={"id_token": token, "state": state}, headers=headers)
        if answer.status_code != 303:
            return answer
        return await http.get(answer.headers["location"], headers={"Sec-Fetch-Site": "cross-site"})

    @property
    def configuration(self) -> dict[str, Any]:
        """What the platform says of itself to a tool that registers. A change to `None` leaves out a field."""
        configuration = {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/login",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/jwks",
            "registration_endpoint": f"{self.address}/register",
            "scopes_supported": ["openid", "https://purl.imsglobal.org/spec/lti-ags/scope/score"],
            "https://purl.imsglobal.org/spec/lti-platform-configuration": {
                "product_family_code": "simulated",
                "messages_supported": [{"type": "LtiResourceLinkRequest"}, {"type": "LtiDeepLinkingRequest"}],
            },
        } | self.configuration_changes
        return {name: value for name, value in configuration.items() if value is not None}

    async def _configuration(self, request: Request) -> Response:
        return JSONResponse(self.configuration)

    async def _register(self, request: Request) -> Response:
        if self.refusals:
            return JSONResponse({}, status_code=self.refusals.pop())
        asked = json.loads(await request.body())
        self.registered.append((request.headers.get("authorization"), asked))
        tool = asked["https://purl.imsglobal.org/spec/lti-tool-configuration"] | {"deployment_id": self.deployment}
        answer = asked | {"client_id": "client-9", "https://purl.imsglobal.org/spec/lti-tool-configuration": tool}
        return JSONResponse(answer, status_code=201)

    async def _jwks(self, request: Request) -> Response:
        self.key_reads += 1
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _token(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        claims = jwt.decode(
            form["client_assertion"], KeySet.import_key_set(self.tool_keys), algorithms=["RS256"]
        ).claims
        assert (claims["iss"], claims["sub"], claims["aud"]) == (CLIENT_ID, CLIENT_ID, f"{self.address}/token")
        assert claims["jti"] not in self.assertions
        self.assertions.add(claims["jti"])
        return JSONResponse({"access_token": f"for-{form['scope']}".replace(" ", ","), "expires_in": 3600})

    def _may(self, request: Request, scope: str) -> bool:
        granted = request.headers.get("authorization", "").removeprefix("Bearer for-").split(",")
        return f"https://purl.imsglobal.org/spec/{scope}" in granted

    async def _members(self, request: Request) -> Response:
        if not self._may(request, "lti-nrps/scope/contextmembership.readonly"):
            return JSONResponse({}, status_code=401)
        number = int(request.query_params.get("page", 0))
        more = {"Link": f'<{self.address}/members?page={number + 1}>; rel="next"'} if self.pages[number + 1 :] else {}
        return JSONResponse({"id": "x", "members": self.pages[number]}, headers=more)

    async def _items(self, request: Request) -> Response:
        if not self._may(request, "lti-ags/scope/lineitem"):
            return JSONResponse({}, status_code=401)
        if self.refusals:
            return JSONResponse({}, status_code=self.refusals.pop())
        if request.method == "GET":
            link = request.query_params.get("resource_link_id")
            return JSONResponse([each for each in self.items if link in (None, each["resourceLinkId"])])
        assert request.headers["content-type"] == "application/vnd.ims.lis.v2.lineitem+json"
        item = json.loads(await request.body()) | {"id": f"{self.address}/items/new{len(self.items)}"}
        self.items.append(item)
        return JSONResponse(item, status_code=201)

    async def _score(self, request: Request) -> Response:
        if not self._may(request, "lti-ags/scope/score"):
            return JSONResponse({}, status_code=401)
        if self.refusals:
            return JSONResponse({}, status_code=self.refusals.pop())
        assert request.headers["content-type"] == "application/vnd.ims.lis.v1.score+json"
        item = f"{request.path_params['item']}?{request.url.query}"
        self.scores.append((item, json.loads(await request.body())))
        return Response(status_code=204)
