"""PyLTI1p3, an LTI tool that we did not write, against the simulated platform and against what this service signs.

It accepts the messages of the platform and uses its services, so the platform of these tests is not only what our own
code expects. And what this service returns has the claims that PyLTI1p3 would send, with a signature that another JOSE
library verifies.
"""

import re

import jwt
import pytest
from joserfc.jwk import RSAKey
from pylti1p3.cookie import CookieService
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.exception import LtiException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.request import Request
from pylti1p3.session import SessionService
from pylti1p3.tool_config import ToolConfDict

from tests.app.accounts.people import browser, send_form
from tests.app.teaching.lti.platform import CLIENT_ID, DEPLOYMENT, DL, ENDPOINT, LTI
from tests.app.teaching.lti.test_launch import confirm
from tests.app.teaching.lti.test_submission_reviews import review

pytestmark = pytest.mark.anyio


class Sent(Request):
    """The form that a platform sends, and the tool's session."""

    def __init__(self, form: dict[str, str]) -> None:
        super().__init__()
        self.form = form
        self.kept: dict[str, object] = {}

    @property
    def session(self) -> dict[str, object]:
        return self.kept

    def is_secure(self) -> bool:
        return True

    def get_param(self, key: str) -> str:
        return self.form.get(key, "")


class StateCookie(CookieService):
    def get_cookie(self, name: str) -> str:
        return name

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        pass


class OtherTool(MessageLaunch):
    """PyLTI1p3 without a web framework."""

    def _get_request_param(self, key: str) -> str:
        return self._request.get_param(key)


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048)


@pytest.fixture
def launch(platform, key):
    """PyLTI1p3 receives a message of the platform."""
    tools = ToolConfDict(
        {
            platform.address: {
                "client_id": CLIENT_ID,
                "auth_login_url": f"{platform.address}/login",
                "auth_token_url": f"{platform.address}/token",
                "key_set_url": f"{platform.address}/jwks",
                "deployment_ids": [DEPLOYMENT],
            }
        }
    )
    tools.set_private_key(platform.address, key.as_pem(private=True).decode())
    tools.set_public_key(platform.address, key.as_pem(private=False).decode())
    platform.tool_keys = tools.get_jwks(platform.address, CLIENT_ID)

    def receive(changes: dict | None = None, token: str | None = None) -> OtherTool:
        claims = platform.claims("nonce-1", **(changes or {}))
        sent = Sent({"id_token": token or platform.sign(claims), "state": "state-1"})
        session = SessionService(sent)
        session.save_nonce("nonce-1")
        return OtherTool(sent, tools, session, StateCookie()).validate()

    return receive


async def test_it_accepts_every_message_of_the_platform(launch, platform):
    opened = launch()
    assert opened.check_student_access()
    assert (opened.has_ags(), opened.has_nrps()) == (True, True)
    assert launch(platform.selection()).is_deep_link_launch()
    assert launch(review(platform, of="subject-1")).is_submission_review_launch()


async def test_it_refuses_what_this_service_refuses(launch, platform):
    for changes in (
        {"sub": None},
        {"nonce": "another"},
        {f"{LTI}version": "1.1"},
        {f"{LTI}message_type": "Other"},
        {f"{LTI}deployment_id": "deployment-2"},
        {f"{LTI}resource_link": {}},
        {f"{LTI}roles": None},
        {"aud": "another"},
        {"exp": 1_000_000_000},
        review(platform, of="subject-1", **{f"{LTI}for_user": {}}),
    ):
        with pytest.raises(LtiException):
            launch(changes)
    token = platform.sign(platform.claims("nonce-1"))
    with pytest.raises(LtiException):
        launch(token=token[:-4] + "AAAA")


async def test_it_uses_the_services_of_the_platform(launch, platform):
    platform.pages = [[{"user_id": "s-1", "roles": ["Learner"]}], [{"user_id": "s-2", "roles": ["Learner"]}]]
    members = launch().get_nrps().get_members()
    assert [each["user_id"] for each in members] == ["s-1", "s-2"]
    scopes = [f"https://purl.imsglobal.org/spec/lti-ags/scope/{each}" for each in ("lineitem", "score")]
    grades = launch({ENDPOINT: {"scope": scopes, "lineitems": f"{platform.address}/items"}}).get_ags()
    column = LineItem().set_label("Week 1").set_score_maximum(50).set_tag("assignment")
    grades.put_grade(
        Grade()
        .set_score_given(40)
        .set_score_maximum(50)
        .set_activity_progress("Submitted")
        .set_grading_progress("FullyGraded")
        .set_timestamp("2026-11-28T12:00:00.000+00:00")
        .set_user_id("s-1"),
        column,
    )
    [item] = platform.items
    assert (item["label"], item["scoreMaximum"]) == ("Week 1", 50)
    [(_, score)] = platform.scores
    assert (score["userId"], score["scoreGiven"], score["scoreMaximum"]) == ("s-1", 40, 50)


async def test_a_selection_of_this_service_has_the_claims_that_it_would_send(school, platform, launch):
    platform.tool_keys = (await school.http.get("/lti/jwks.json")).json()
    async with browser(school) as teacher:
        page = await platform.launch(teacher, claims=platform.selection())
        there = (await confirm(teacher, page.text)).headers["location"]
        back = await send_form(teacher, there, there, choice="problem add_one")
    token = re.search(r'name="JWT" value="([^"]+)"', back.text)[1]
    keys = {each.key_id: each for each in jwt.PyJWKSet.from_dict(platform.tool_keys).keys}
    ours = jwt.decode(
        token,
        keys[jwt.get_unverified_header(token)["kid"]],
        algorithms=["RS256"],
        audience=platform.address,
        issuer=CLIENT_ID,
        options={"require": ["exp", "iat", "nonce"]},
    )
    [item] = ours[f"{DL}content_items"]
    column = LineItem().set_label(item["title"]).set_score_maximum(100)
    resource = DeepLinkResource().set_title(item["title"]).set_url(item["url"]).set_lineitem(column)
    theirs = launch(platform.selection()).get_deep_link().get_message_jwt([resource])
    assert ours.keys() == theirs.keys()
    fixed = {each for each in theirs if each not in ("aud", "exp", "iat", "nonce", f"{DL}content_items")}
    assert {name: ours[name] for name in fixed} == {name: theirs[name] for name in fixed}
    [expected] = theirs[f"{DL}content_items"]
    assert {name: item[name] for name in ("type", "title", "url")} == {
        name: expected[name] for name in ("type", "title", "url")
    }
    assert expected["lineItem"].items() <= item["lineItem"].items()
