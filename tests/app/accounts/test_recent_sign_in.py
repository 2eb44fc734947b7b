"""Lasting access requires a browser with a recent sign-in. An API token is not enough."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from app.accounts.caller import Caller, User
from app.accounts.errors import SessionNeeded
from app.accounts.identities import Identity
from app.accounts.provider_flow import begin_flow
from app.accounts.providers import Providers
from app.accounts.recent_sign_in import RecentSignIn
from app.accounts.roles import SCOPES
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.errors import SignInAgain
from app.core.web.next_page import own_page
from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
ADA = User("a" * 32, "ada", "owner")
RECENT = RecentSignIn(timedelta(minutes=15))
TOKENS, INVITATIONS = "/api/v1/tokens", "/api/v1/invitations"


@pytest.fixture
def later(monkeypatch):
    """Make every proof of identity so far too old."""

    def later() -> None:
        monkeypatch.setattr("app.accounts.recent_sign_in.now", lambda: now() + timedelta(minutes=16))

    return later


@pytest.mark.parametrize(("age_min", "recent"), [(0, True), (14, True), (16, False), (None, False)])
def test_a_session_is_recent_for_some_minutes_after_its_proof(age_min, recent):
    proved_at = None if age_min is None else now() - timedelta(minutes=age_min)
    caller = Caller(ADA, frozenset(SCOPES), session_id="s", authenticated_at=proved_at)
    assert RECENT.covers(caller) == recent
    if not recent:
        with pytest.raises(SignInAgain):
            RECENT.require(caller)


def test_an_api_token_is_never_recent():
    caller = Caller(ADA, frozenset(SCOPES), authenticated_at=now())
    assert not RECENT.covers(caller)
    with pytest.raises(SessionNeeded):
        RECENT.require(caller)


@pytest.mark.parametrize("role", ["instructor", "owner"])
async def test_a_token_invites_students_alone(service, role):
    refused = await service.http.post(INVITATIONS, json={"role": role}, headers=service.bearer)
    assert (refused.status_code, refused.json()["slug"]) == (403, "session-needed")
    page = await service.http.post("/account/invitations", data={"role": role}, headers=service.bearer)
    assert page.status_code == 403
    assert (await service.http.get(INVITATIONS, headers=service.bearer)).json() == {"invitations": []}
    assert (await service.http.post(INVITATIONS, json={}, headers=service.bearer)).status_code == 201


async def test_a_made_up_flow_adds_no_provider_to_the_account_of_a_token(service):
    """The flow's cookie proves nothing: anyone with a token can get one, and sign in at the provider as themselves."""

    class Provider:
        key, label, issuer = "oidc", "the school", "https://id.example"

        async def identify(self, flow: object, return_to: str, code: str) -> Identity:
            return Identity(self.issuer, "eve", "eve")

    service.services.provide(Providers, {"oidc": Provider()})
    for purpose in ("link", "confirm"):
        flow = begin_flow(purpose, "oidc", session_token="made up")
        cookies = {"meshgrade_flow": flow.cookie, "meshgrade_session": "made up"}
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        answer = await service.http.get(
            f"/sign-in/with/oidc/return?code=x&state={flow.state}", headers=service.bearer | {"Cookie": cookie}
        )
        assert (answer.status_code, answer.json()["slug"]) == (403, "session-needed")
    accounts = service.services[Accounts]
    assert await accounts.identities.list((await accounts.ensure_owner()).id) == []


async def test_the_owner_who_came_by_a_link_is_recent_from_then_on(service, later):
    await sign_in(service)
    body = {"name": "laptop", "scopes": ["read"]}
    assert (await service.http.post(TOKENS, json=body, headers=SITE)).status_code == 201
    later()
    refused = await service.http.post(TOKENS, json=body, headers=SITE)
    assert (refused.status_code, refused.json()["slug"]) == (403, "sign-in-again")
    assert refused.json()["sign_in"] == "/sign-in/again"


async def test_a_form_leads_to_the_confirmation_and_back(service, later):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        token = form_token((await http.get("/account/tokens")).text)
        later()
        fields = {"form_token": token, "name": "laptop", "scopes-read": "on", "expires_in_days": "7"}
        sent = await http.post("/account/tokens", data=fields, headers=SITE)
        assert sent.status_code == 303
        where = sent.headers["location"]
        assert parse_qs(urlsplit(where).query) == {"next": ["/account/tokens"]}
        page = await http.get(where)
        assert "Confirm that it is you" in page.text
        back = {"next": "/account/tokens"}
        wrong = await send_form(http, where, "/sign-in/again", password="wrong wrong wrong", **back)
        assert wrong.status_code == 401
        assert 'value="/account/tokens"' in wrong.text
        before = await proved_at(service, http)
        while now() <= before:
            await asyncio.sleep(0.001)
        right = await send_form(http, where, "/sign-in/again", password=PASSWORD, **back)
        assert (right.status_code, right.headers["location"]) == (303, "/account/tokens")
        assert await proved_at(service, http) > before


async def proved_at(service, http):
    caller = await service.services[Accounts].sessions.caller(http.cookies["meshgrade_session"])
    return caller.authenticated_at


async def test_pages_offer_the_confirmation_in_place_of_what_would_be_refused(service, later):
    async with browser(service) as http:
        await sign_up(service, http, "grace", "instructor")
        assert "/sign-in/again" not in (await http.get("/account/tokens")).text
        later()
        tokens = (await http.get("/account/tokens")).text
        assert 'href="/sign-in/again?next=/account/tokens"' in tokens
        assert "Create token" not in tokens
        invitations = (await http.get("/account/invitations")).text
        assert 'href="/sign-in/again?next=/account/invitations"' in invitations
        assert "<option>student</option>" in invitations
        assert "<option>instructor</option>" not in invitations
        # That page requires her password in any case.
        assert "Change password" in (await http.get("/account")).text


async def test_whoever_has_no_other_way_is_told_how_to_get_a_link(service, later):
    await sign_in(service)
    later()
    account = (await service.http.get("/account", headers={"Accept": "text/html"})).text
    assert 'href="/sign-in/again?next=/account"' in account
    assert "Set the password" not in account
    page = (await service.http.get("/sign-in/again?next=/account", headers={"Accept": "text/html"})).text
    assert "meshgrade reset-password owner" in page
    fields = {"form_token": form_token(page), "password": ""}
    assert (await service.http.post("/sign-in/again", data=fields, headers=SITE)).status_code == 401


async def test_the_present_password_is_proof_enough_to_change_it(service, later):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        later()
        fields = {"old": PASSWORD, "new": "another long password"}
        assert (await send_form(http, "/account", "/account/password", **fields)).status_code == 303


@pytest.mark.parametrize("page", ["/", "/account", "/account/tokens?x=1#new"])
def test_a_page_of_this_site_is_gone_on_to(page):
    assert own_page(page) == page


@pytest.mark.parametrize(
    "page",
    [
        "",
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "account",
        "/a\nb",
        "/a b",
        "/ä",
        "/a\\b",
        "/\t/e",
    ],
)
def test_any_other_is_not(page):
    assert own_page(page) == "/account"
