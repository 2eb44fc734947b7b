"""Signing in with an OpenID Connect provider that runs here, and with GitHub: which answers are accepted."""

import html
import re
import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import OctKey, RSAKey
from starlette.responses import JSONResponse, PlainTextResponse

from app.accounts.providers import GitHubProvider, Providers, _Client, build_providers
from app.accounts.service import Accounts
from app.core.settings import Settings
from app.core.start_errors import SettingInvalid
from tests.app.accounts.oidc_provider import CLIENT_ID, CLIENT_SECRET, OIDCServer, run_provider
from tests.app.accounts.people import SITE, browser, form_token, send_form, sign_in, sign_up
from tests.app.teaching.courses.test_courses import create
from tests.app.teaching.courses.test_roster_people import imported, members_of

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"
WITH = "/sign-in/with/oidc"


@pytest.fixture(scope="module")
def running_provider() -> Iterator[OIDCServer]:
    with run_provider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: OIDCServer) -> OIDCServer:
    """Make the provider honest again after a test that made it lie."""
    running_provider.be_honest()
    return running_provider


@pytest.fixture
def start(start_service, provider):
    """The service, with the provider set up."""

    def start(**settings: object):
        oidc = {"oidc_issuer": provider.issuer, "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}
        return start_service(**({"sign_up": "open", "oidc_name": "the school"} | oidc | settings))

    return start


async def go_to_provider(http: httpx.AsyncClient, page: str, action: str, **fields: str) -> str:
    """Press the button and let the provider sign in. Returns the path that it sends the browser back to."""
    leave = await send_form(http, page, action, **fields)
    assert leave.status_code == 200, leave.text
    address = html.unescape(re.search(r'class="button primary" href="([^"]+)"', leave.text)[1])
    assert leave.headers["refresh"] == f"0; url={address}"
    async with httpx.AsyncClient(timeout=60) as outside:
        back = (await outside.get(address)).headers["location"]
    assert back.startswith("http://meshgrade.test/sign-in/with/")
    return back.removeprefix("http://meshgrade.test")


async def enter(http: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await http.get(await go_to_provider(http, "/sign-in", WITH, **fields))


async def test_it_leads_back_to_the_page_and_to_no_other_site(start):
    async with start() as service:
        for page, target in (("/problems/add_one", "/problems/add_one"), ("//evil.example", "/")):
            async with browser(service) as http:
                assert (await enter(http, next=page)).headers["location"] == target


async def test_somebody_new_becomes_a_student_and_the_next_time_is_the_same_one(start, provider):
    async with start() as service:
        async with browser(service) as http:
            assert "Sign in with the school" in (await http.get("/sign-in")).text
            answer = await enter(http)
            assert (answer.status_code, answer.headers["location"]) == (303, "/")
            assert answer.headers["cache-control"] == "no-store"
            first = (await http.get(ME)).json()
            assert (first["name"], first["role"]) == ("ada", "student")
            assert "meshgrade_flow" not in http.cookies
        provider.username = "renamed"
        async with browser(service) as http:
            await enter(http)
            assert (await http.get(ME)).json() == first


async def test_a_name_that_is_taken_gets_a_tail_and_no_account_is_taken_over(start, provider):
    provider.username = "Owner"
    async with start() as service, browser(service) as http:
        await enter(http)
        me = (await http.get(ME)).json()
        assert re.fullmatch(r"owner-[0-9a-f]{8}", me["name"])
        assert me["role"] == "student"


@pytest.mark.parametrize("username", [None, "", "\N{SNOWMAN}", "<b>", 7, "x" * 90], ids=ascii)
async def test_a_name_from_there_can_be_anything(start, provider, username):
    provider.username = username
    async with start() as service, browser(service) as http:
        await enter(http)
        assert re.fullmatch(r"(student|b|x{30})(-[0-9a-f]{8})?", (await http.get(ME)).json()["name"])


async def test_sign_up_by_invitation_holds_here_too(start, provider):
    async with start(sign_up="invitation") as service, browser(service) as http:
        refused = await enter(http)
        assert refused.status_code == 403
        assert "need an invitation" in refused.text
        accounts = service.services[Accounts]
        invitation, _ = await accounts.invitations.create(await accounts.ensure_owner(), "instructor", "", 7)
        page = f"/sign-up?invitation={invitation}"
        back = await go_to_provider(http, page, WITH, invitation=invitation)
        assert (await http.get(back)).status_code == 303
        assert (await http.get(ME)).json()["role"] == "instructor"
        assert (await http.get(page)).status_code == 403  # used up
        wrong = await send_form(http, "/sign-in", "/sign-out")
        assert wrong.status_code == 303
        provider.subject = "subject-2"
        assert (await enter(http, invitation=invitation)).status_code == 403
        assert (await send_form(http, "/sign-in", WITH, invitation="a.b")).status_code == 403


async def test_an_account_that_there_is_joins_the_courses_of_an_invitation(start):
    async with start() as service, browser(service) as http, browser(service) as tess:
        await sign_up(service, tess, "tess", "instructor")
        await enter(http)
        await send_form(http, "/problems", "/sign-out")
        course = await create(tess)
        [row] = await imported(tess, course, "name,email\nAda Lovelace,ada@example.org\n")
        token = re.search(r"invitation=([^&]+)", row["url"])[1]
        page = f"/sign-up?invitation={token}"
        assert (await http.get(await go_to_provider(http, page, WITH, invitation=token))).status_code == 303
        assert await members_of(service, course) == {"ada"}
        assert (await http.get(page)).status_code == 403  # used up


async def test_accounts_that_a_provider_makes_are_counted_and_signing_in_is_not(start, provider):
    async with start(sign_ups_in_total=1) as service, browser(service) as http:
        for _ in range(3):
            assert (await enter(http)).status_code == 303
            await send_form(http, "/problems", "/sign-out")
        provider.subject = "subject-2"
        refused = await enter(http)
        assert (refused.status_code, "retry-after" in refused.headers) == (429, True)


async def test_closed_lets_in_only_who_is_known(start, provider):
    async with start() as service, browser(service) as http:
        await enter(http)
    async with start(sign_up="closed") as service, browser(service) as http:
        assert (await enter(http)).status_code == 303
        await send_form(http, "/problems", "/sign-out")
        provider.subject = "subject-2"
        assert (await enter(http)).status_code == 403


NOW = int(time.time())
LIES: dict[str, dict[str, object]] = {
    "another issuer": {"iss": "https://evil.example"},
    "another audience": {"aud": "another-client"},
    "two audiences and nobody named": {"aud": [CLIENT_ID, "another-client"]},
    "for another client": {"aud": [CLIENT_ID], "azp": "another-client"},
    "expired": {"exp": NOW - 3600},
    "issued in the future": {"iat": NOW + 3600},
    "another nonce": {"nonce": "0" * 64},
    "no nonce": {"nonce": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject with a NUL": {"sub": "a\0b"},
    "a long subject": {"sub": "x" * 256},
    "no end": {"exp": None},
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_token_that_says_something_wrong_signs_nobody_in(start, provider, lie):
    provider.claims = LIES[lie]
    await refused_by(start)


async def refused_by(start) -> None:
    async with start() as service, browser(service) as http:
        answer = await enter(http)
        assert answer.status_code == 502
        assert "provider-failed" in answer.text
        assert "meshgrade_session" not in http.cookies


async def test_a_token_signed_by_another_key_signs_nobody_in(start, provider, caplog):
    provider.key = RSAKey.generate_key(2048, {"kid": "one"})
    await refused_by(start)
    assert "BadSignatureError" in caplog.text


async def test_a_token_signed_with_the_clients_secret_signs_nobody_in(start, provider, caplog):
    provider.key, provider.algorithm = OctKey.import_key(CLIENT_SECRET), "HS256"
    provider.documents["jwks"] = JSONResponse({"keys": [provider.key.as_dict() | {"kid": "one"}]})
    await refused_by(start)
    assert "UnsupportedAlgorithmError" in caplog.text


@pytest.mark.parametrize("document", ["jwks", "token"])
@pytest.mark.parametrize(
    "answer",
    [PlainTextResponse("<html>"), JSONResponse([]), JSONResponse({}), PlainTextResponse("down", status_code=503)],
    ids=["not JSON", "a list", "empty", "503"],
)
async def test_a_broken_provider_signs_nobody_in(start, provider, document, answer):
    provider.documents[document] = answer
    await refused_by(start)


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": "http://evil.example/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
    ],
    ids=str,
)
async def test_a_discovery_that_leads_elsewhere_is_refused(start, provider, discovery):
    honest = {"issuer": provider.issuer, "authorization_endpoint": f"{provider.issuer}/authorize"}
    provider.documents["discovery"] = JSONResponse(honest | discovery)
    async with start() as service, browser(service) as http:
        assert (await send_form(http, "/sign-in", WITH)).status_code == 502


async def test_a_provider_that_is_down_is_said_to_be(start_service):
    oidc = {"oidc_issuer": "http://127.0.0.1:9", "oidc_client_id": "x", "oidc_client_secret": "y"}
    async with start_service(**oidc) as service, browser(service) as http:
        answer = await send_form(http, "/sign-in", WITH)
        assert answer.status_code == 502
        assert "Nobody was signed in" in answer.text


async def test_a_return_that_this_browser_did_not_begin_is_refused(start):
    async with start() as service, browser(service) as eve, browser(service) as ada:
        back = await go_to_provider(eve, "/sign-in", WITH)
        assert (await ada.get(back)).status_code == 403  # without a flow
        await go_to_provider(ada, "/sign-in", WITH)
        assert (await ada.get(back)).status_code == 403  # in another one
        assert (await ada.get(re.sub("state=[^&]+", "state=", back))).status_code == 403
        assert "meshgrade_session" not in ada.cookies
        assert (await eve.get(back)).status_code == 303
        assert (await eve.get(back)).status_code == 403  # a second time


async def test_a_code_of_one_flow_does_not_fit_another(start):
    async with start() as service, browser(service) as eve, browser(service) as ada:
        code = parse_qs(urlsplit(await go_to_provider(eve, "/sign-in", WITH)).query)["code"][0]
        back = await go_to_provider(ada, "/sign-in", WITH)
        answer = await ada.get(re.sub("code=[^&]+", f"code={code}", back))
        assert answer.status_code == 502  # the verifier is another one
        assert "meshgrade_session" not in ada.cookies


async def test_a_no_from_the_provider_is_told(start):
    async with start() as service, browser(service) as http:
        state = parse_qs(urlsplit(await go_to_provider(http, "/sign-in", WITH)).query)["state"][0]
        answer = await http.get(f"{WITH}/return?error=access_denied&state={state}")
        assert answer.status_code == 403
        assert "the school did not sign you in" in answer.text


async def test_the_button_needs_a_page_of_this_site(start):
    async with start() as service, browser(service) as http:
        assert (await http.post(WITH, data={"x": "y"}, headers=SITE)).status_code == 403
        token = form_token((await http.get("/sign-in")).text)
        foreign = {"Origin": "http://evil.example"}
        assert (await http.post(WITH, data={"form_token": token}, headers=foreign)).status_code == 403
        assert (await send_form(http, "/sign-in", WITH)).headers["cache-control"] == "no-store"


async def test_it_is_added_to_an_account_and_removed_again(start):
    add = "/account/identities/add/oidc"
    async with start() as service, browser(service) as http:
        await sign_up(service, http, "grace")
        back = await go_to_provider(http, "/account", add)
        answer = await http.get(back)
        assert (answer.status_code, answer.headers["location"]) == (303, "/account#identities")
        assert "<strong>ada</strong>" in (await http.get("/account")).text
        async with browser(service) as other:
            await enter(other)
            assert (await other.get(ME)).json()["name"] == "grace"
        user = await service.services[Accounts].user_of_session(http.cookies["meshgrade_session"])
        [identity] = await service.services[Accounts].identities.list(user.id)
        await send_form(http, "/account", f"/account/identities/{identity.id}/remove")
        assert await service.services[Accounts].identities.list(user.id) == []


async def test_it_confirms_who_is_signed_in_and_is_asked_to_ask_again(start, provider, monkeypatch):
    again = "/sign-in/again?next=/account/tokens"
    action = "/sign-in/again/with/oidc"
    async with start() as service, browser(service) as http:
        await enter(http)
        leave = await send_form(http, again, action, next="/account/tokens")
        asked = parse_qs(urlsplit(html.unescape(leave.headers["refresh"].partition("url=")[2])).query)
        assert (asked["prompt"], asked["max_age"]) == (["login"], ["0"])
        sessions = service.services[Accounts].sessions
        before = await sessions.caller(http.cookies["meshgrade_session"])
        provider.claims = {"auth_time": int(time.time())}
        answer = await http.get(await go_to_provider(http, again, action, next="/account/tokens"))
        assert (answer.status_code, answer.headers["location"]) == (303, "/account/tokens")
        after = await sessions.caller(http.cookies["meshgrade_session"])
        assert after.session_id == before.session_id
        assert after.authenticated_at > before.authenticated_at
        provider.claims = {"auth_time": int(time.time()) - 3600}
        assert (await http.get(await go_to_provider(http, again, action))).status_code == 502
        provider.claims = {"auth_time": "now"}
        assert (await http.get(await go_to_provider(http, again, action))).status_code == 502
        provider.claims, provider.subject = {}, "subject-2"
        assert (await http.get(await go_to_provider(http, again, action))).status_code == 401
        assert await sessions.caller(http.cookies["meshgrade_session"]) == after


async def test_another_accounts_identity_is_not_taken_over(start):
    add = "/account/identities/add/oidc"
    async with start() as service, browser(service) as ada, browser(service) as eve:
        await enter(ada)
        await sign_up(service, eve, "eve")
        answer = await eve.get(await go_to_provider(eve, "/account", add))
        assert answer.status_code == 409
        assert "Another account" in answer.text
        async with browser(service) as again:
            await enter(again)
            assert (await again.get(ME)).json()["name"] == "ada"


async def test_a_flow_of_one_session_adds_nothing_to_another(start):
    """Otherwise an attacker who plants a cookie could add their own sign-in to someone else's account."""
    add = "/account/identities/add/oidc"
    async with start() as service, browser(service) as eve:
        await sign_up(service, eve, "eve")
        back = await go_to_provider(eve, "/account", add)
        await sign_in(service)
        service.http.cookies.set("meshgrade_flow", eve.cookies["meshgrade_flow"])
        assert (await service.http.get(back)).status_code == 403
        owner = await service.services[Accounts].ensure_owner()
        assert await service.services[Accounts].identities.list(owner.id) == []


async def test_the_last_way_in_stays(start):
    async with start() as service, browser(service) as http:
        await enter(http)
        user = await service.services[Accounts].user_of_session(http.cookies["meshgrade_session"])
        [identity] = await service.services[Accounts].identities.list(user.id)
        remove = f"/account/identities/{identity.id}/remove"
        assert (await send_form(http, "/account", remove)).status_code == 409
        await send_form(http, "/account", "/account/password", new="a long enough password")
        assert (await send_form(http, "/account", remove)).status_code == 303


async def test_github_says_by_its_number_who_somebody_is(start_service, provider):
    async with start_service(sign_up="open") as service:
        github = GitHubProvider(_Client(CLIENT_ID, CLIENT_SECRET), provider.issuer, provider.issuer)
        service.services.provide(Providers, {"github": github})
        for name in ("ada", "renamed"):
            provider.username = name
            async with browser(service) as http:
                back = await go_to_provider(http, "/sign-in", "/sign-in/with/github")
                assert (await http.get(back)).status_code == 303
                assert (await http.get(ME)).json()["name"] == "ada"
        provider.number = "4711"
        async with browser(service) as http:
            back = await go_to_provider(http, "/sign-in", "/sign-in/with/github")
            assert (await http.get(back)).status_code == 502
            assert (await http.get(back)).status_code == 502  # the code is used up, which GitHub tells with 200


async def test_no_provider_no_button(service):
    async with browser(service) as http:
        assert "Sign in with" not in (await http.get("/sign-in")).text
        token = form_token((await http.get("/sign-in")).text)
        assert (await http.post(WITH, data={"form_token": token}, headers=SITE)).status_code == 404
        assert (await http.get(f"{WITH}/return?state=x&code=y")).status_code == 404


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"oidc_issuer": "https://id.example"}, "oidc_client_id"),
        ({"oidc_issuer": "https://id.example", "oidc_client_id": "x"}, "oidc_client_secret"),
        ({"oidc_client_id": "x", "oidc_client_secret": "y"}, "oidc_issuer"),
        ({"oidc_issuer": "http://id.example", "oidc_client_id": "x", "oidc_client_secret": "y"}, "oidc_issuer"),
        ({"github_client_id": "x"}, "github_client_secret"),
        ({"github_client_secret": "x"}, "github_client_id"),
    ],
)
def test_a_provider_that_is_set_up_by_half_is_named(settings, named):
    with pytest.raises(SettingInvalid, match=f"'{named}'"):
        build_providers(Settings(**settings))


def test_both_can_be_set_up():
    both = Settings(
        oidc_issuer="https://id.example",
        oidc_client_id="x",
        oidc_client_secret="y",
        github_client_id="x",
        github_client_secret="y",
    )
    assert list(build_providers(both)) == ["oidc", "github"]
    assert "'y'" not in repr(both)
