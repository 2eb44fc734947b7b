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
                Route("/jwks", self._jwks),
                Route("/token", self._token, methods=["POST"]),
                Route("/members", self._members),
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
        """The changes that make a request for a selection of a teacher."""
        return {
            f"{LTI}message_type": "LtiDeepLinkingRequest",
            f"{LTI}resource_link": None,
            f"{LTI}roles": [f"{ROLE}Instructor"],
            "sub": "teacher-1",
            "name": "Tess",
            f"{DL}deep_linking_settings": {"deep_link_return_url": f"{self.address}/return", "data": "opaque"},
        } | changes

    def sign(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": "platform-key"}, claims, self.key)

    async def begin(self, http: httpx.AsyncClient, **changes: str) -> dict[str, str]:
        """The first request of a launch. Returns what the tool asks the platform."""
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
        """Both requests, and then the page to which the second one leads, or its refusal."""
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
        return JSONResponse({"access_token": f"for {form['scope']}".replace(" ", "-"), "expires_in": 3600})

    def _may(self, request: Request, scope: str) -> bool:
        return request.headers.get("authorization") == f"Bearer for-https://purl.imsglobal.org/spec/{scope}"

    async def _members(self, request: Request) -> Response:
        if not self._may(request, "lti-nrps/scope/contextmembership.readonly"):
            return JSONResponse({}, status_code=401)
        number = int(request.query_params.get("page", 0))
        more = {"Link": f'<{self.address}/members?page={number + 1}>; rel="next"'} if self.pages[number + 1 :] else {}
        return JSONResponse({"id": "x", "members": self.pages[number]}, headers=more)

    async def _score(self, request: Request) -> Response:
        if not self._may(request, "lti-ags/scope/score"):
            return JSONResponse({}, status_code=401)
        if self.refusals:
            return JSONResponse({}, status_code=self.refusals.pop())
        assert request.headers["content-type"] == "application/vnd.ims.lis.v1.score+json"
        item = f"{request.path_params['item']}?{request.url.query}"
        self.scores.append((item, json.loads(await request.body())))
        return Response(status_code=204)
