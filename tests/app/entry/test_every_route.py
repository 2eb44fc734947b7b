"""Every route of routes.py, requested by nobody, by another user and by a token that lacks a scope."""

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from app.accounts.errors import SessionNeeded
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.errors import Refused, SignInAgain
from tests.app.accounts.people import SITE, browser, form_token, sign_in, sign_up
from tests.app.owners_objects import SECRETS, made, owned, service
from tests.app.routes import (
    CLOSED,
    CONFIRM,
    FOR_TOKENS_TOO,
    IDS,
    INSTRUCT,
    MISSING,
    OF_GUESTS,
    OF_INSTRUCTORS,
    OWN,
    OWNED,
    OWNERS,
    PUBLIC,
    RECENT,
    address,
    routes_of,
)
from tests.faults import for_each

__all__ = ["made", "owned", "service"]

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def bearers(shared_service) -> dict[str, dict[str, str]]:
    """Tokens of the owner that lack a scope, as headers."""
    tokens = shared_service.services[Accounts].tokens
    caller = await tokens.caller(shared_service.bearer["Authorization"].removeprefix("Bearer "))
    scopes = {"instruct alone": ["instruct"], "all but instruct": ["read", "submit", "account"]}
    made = {name: (await tokens.create(caller, name, each, None))[0] for name, each in scopes.items()}
    return {name: {"Authorization": f"Bearer {token}"} for name, token in made.items()}


@pytest.fixture(scope="module")
async def others(shared_service) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """By role, the browser of another user with that role."""
    async with browser(shared_service) as student, browser(shared_service) as instructor:
        await sign_up(shared_service, student, "student")
        await sign_up(shared_service, instructor, "instructor", "instructor")
        yield {"student": student, "instructor": instructor}


@pytest.fixture(scope="module")
def found() -> list[dict[str, object]]:
    """What the owner has, as the last test left it."""
    return []


async def test_every_route_is_classified(service):
    assert routes_of(service.app) == PUBLIC | OWN | OWNED | INSTRUCT | OWNERS
    assert not PUBLIC & OWN
    assert not (PUBLIC | OWN) & OWNED
    assert not (PUBLIC | OWN | OWNED) & INSTRUCT
    assert not (PUBLIC | OWN | OWNED | INSTRUCT) & OWNERS
    described = (await service.http.get("/openapi.json")).json()["paths"]
    operations = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert operations <= routes_of(service.app)
    assert {(method, path) for method, path in routes_of(service.app) if path.startswith("/api/")} <= operations


@for_each("method, path", sorted(OWN | OWNED | INSTRUCT | OWNERS))
async def test_nobody_is_refused_and_told_nothing(service, owned, method, path):
    async with browser(service) as nobody:
        body = {"json": {"source": "x"}} if path.startswith("/api/") and method == "POST" else {}
        if method == "POST" and not path.startswith("/api/"):
            page = (await nobody.get("/sign-in")).text
            body = {"data": {"form_token": form_token(page), "source": "x", "action": "run"}}
        answer = await nobody.request(method, address(path, owned), headers=SITE, **body)
        assert answer.status_code == OF_GUESTS.get((method, path), 401)
        assert not [secret for secret in SECRETS if secret in answer.text]


async def test_head_of_every_page_answers_as_get_does(others, service, owned):
    for path in sorted(path for method, path in routes_of(service.app) if method == "GET"):
        if not path.startswith("/api/"):
            got, head = [await ask(address(path, owned)) for ask in (others["student"].get, others["student"].head)]
            assert (head.status_code, head.content) == (got.status_code, b""), path
            assert head.headers.get("content-type") == got.headers.get("content-type"), path


async def test_head_does_not_use_up_a_sign_in_link(shared_service):
    assert (await shared_service.http.head("/sign-in?token=x")).status_code == 405


@pytest.mark.parametrize("role", ["student", "instructor"])
@for_each("method, path", sorted(OWNED))
async def test_what_is_anothers_does_not_exist(others, owned, method, path, role):
    other = others[role]
    fields = {"form_token": form_token((await other.get("/account")).text)}
    body = {"data": fields} if method == "POST" else {}
    answer = await other.request(method, address(path, owned), headers=SITE, **body)
    expected = 403 if role == "student" and (method, path) in OF_INSTRUCTORS else 404
    assert answer.status_code == expected
    assert not [secret for secret in SECRETS if secret in answer.text]


@pytest.mark.parametrize("role", ["student", "instructor"])
async def test_what_is_ones_own_shows_nothing_of_anothers(others, owned, role):
    for method, path in sorted(PUBLIC | OWN):
        if method == "GET":
            params = {"id": owned["attempt_id"]} if "/batch/" in path else {}
            answer = await others[role].get(address(path, owned), params=params)
            assert not [secret for secret in SECRETS if secret in answer.text], path
            if (method, path) in OWN:
                refused = (method, path) in CLOSED or (role == "student" and (method, path) in OF_INSTRUCTORS)
                expected = 404 if (method, path) in MISSING else 403 if refused else 200
                assert answer.status_code == expected, path


@for_each("method, path", sorted(each for each in OWN | OWNED | INSTRUCT | OWNERS if each[0] != "GET"))
async def test_another_site_changes_nothing_with_ones_cookie(service, owned, method, path):
    foreign = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Accept": "*/*"}
    body = {"json": {}} if path.startswith("/api/") else {"data": {"source": "x", "action": "run"}}
    answer = await service.http.request(
        method, address(path, owned), headers=foreign, **body if method == "POST" else {}
    )
    assert (answer.status_code, answer.json()["slug"]) == (403, "origin-refused")


@for_each("path", sorted(path for method, path in OWN | OWNED | OWNERS if method == "POST" and "/api/" not in path))
async def test_a_form_of_this_site_without_its_token_changes_nothing(service, owned, path):
    fields = {"source": "x", "action": "run", "new": "a long enough password"}
    answer = await service.http.post(address(path, owned), data=fields, headers=SITE | {"Accept": "text/html"})
    if ("POST", path) in MISSING:
        assert answer.status_code == 404
    else:
        assert (answer.status_code, "The form is out of date" in answer.text) == (403, True)


@for_each("method, path", sorted(OWN | OWNED))
async def test_a_token_without_a_scope_reaches_nothing(service, owned, bearers, method, path):
    body = {"json": {"source": "x"}} if method == "POST" and path.startswith("/api/") else {}
    if method == "POST" and not body:
        body = {"data": {"source": "x", "action": "run"}}
    answer = await service.http.request(method, address(path, owned), headers=bearers["instruct alone"], **body)
    assert (answer.status_code, answer.json()["slug"]) == (403, "scope-missing")


async def refused_as(service, refusal: type[Refused], headers: dict[str, str], token: str) -> set[tuple[str, str]]:
    """The routes, except those of instructors, that refuse the owner in this way. The objects are made up."""
    found = set()
    for method, path in sorted(OWN | OWNED):
        fields = RECENT.get((method, path), {"source": "x", "action": "run"})
        is_api = path.startswith("/api/")
        body = {"json": fields} if is_api else {"data": fields | {"form_token": token}}
        where = path.format(slug="add_one", provider="oidc", token="0", track="basics", **dict.fromkeys(IDS, "0" * 32))
        answer = await service.http.request(method, where, headers=headers, **(body if method == "POST" else {}))
        if answer.status_code == 403 and refusal.title in answer.text:
            found.add((method, path))
    return found


async def test_a_token_with_every_scope_does_nothing_that_needs_a_browser(start_service):
    async with start_service() as service:
        refused = await refused_as(service, SessionNeeded, service.bearer, "")
    assert refused == CONFIRM | RECENT.keys() - FOR_TOKENS_TOO


async def test_a_browser_that_was_left_open_is_asked_again_for_what_lets_somebody_in(start_service, monkeypatch):
    async with start_service() as service:
        await sign_in(service)
        token = form_token((await service.http.get("/attempts", headers={"Accept": "text/html"})).text)
        monkeypatch.setattr("app.accounts.recent_sign_in.now", lambda: now() + timedelta(minutes=16))
        assert await refused_as(service, SignInAgain, SITE, token) == RECENT.keys()


@pytest.mark.parametrize("role", ["student", "instructor"])
@for_each("method, path", sorted(OWNERS))
async def test_only_owners_do_anything_to_accounts(others, owned, method, path, role):
    answer = await others[role].request(method, address(path, owned), headers=SITE | {"Accept": "*/*"})
    assert (answer.status_code, answer.json()["slug"]) == (403, "role-missing")


@for_each("method, path", sorted(OWNERS))
async def test_a_token_without_account_does_nothing_to_accounts(service, owned, bearers, method, path):
    answer = await service.http.request(method, address(path, owned), headers=bearers["instruct alone"])
    assert (answer.status_code, answer.json()["slug"], answer.json()["scope"]) == (403, "scope-missing", "account")


@for_each("method, path", sorted(INSTRUCT))
async def test_students_do_nothing_to_problems(others, owned, method, path):
    answer = await others["student"].request(method, address(path, owned), headers=SITE | {"Accept": "*/*"})
    assert (answer.status_code, answer.json()["slug"]) == (403, "role-missing")


@for_each("method, path", sorted(INSTRUCT))
async def test_a_token_without_instruct_does_nothing_to_problems(service, owned, bearers, method, path):
    answer = await service.http.request(method, address(path, owned), headers=bearers["all but instruct"])
    assert (answer.status_code, answer.json()["slug"], answer.json()["scope"]) == (403, "scope-missing", "instruct")
