"""API tokens: what their scopes permit, that they are shown once, expire and are revoked."""

import pytest

from app.accounts.service import Accounts
from app.core.clock import now
from tests.app.accounts.people import SITE, browser, send_form, sign_up

pytestmark = pytest.mark.anyio
ME, TOKENS = "/api/v1/me", "/api/v1/tokens"
RUNS = "/api/v1/problems/add_one/runs"


async def make(service, *scopes: str, headers: dict[str, str] | None = None, **further: object):
    body = {"name": "laptop", "scopes": list(scopes), **further}
    return await service.http.post(TOKENS, json=body, headers=headers or service.bearer)


def bearer(answer) -> dict[str, str]:
    assert answer.status_code == 201, answer.text
    return {"Authorization": f"Bearer {answer.json()['token']}"}


async def test_it_is_shown_once_and_stored_as_a_hash(service, tmp_path):
    made = await make(service, "submit", "read", expires_in_days=7)
    assert made.headers["cache-control"] == "no-store"
    token = made.json()["token"]
    assert made.json()["scopes"] == ["read", "submit"]
    listed = await service.http.get(TOKENS, headers=service.bearer)
    assert [(each["name"], each["preset"]) for each in listed.json()["tokens"]] == [("laptop", False), ("preset", True)]
    assert token not in listed.text
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").glob("meshgrade.sqlite3*"))
    assert token.encode() not in stored


@pytest.mark.parametrize(
    ("scope", "method", "path", "status"),
    [
        ("read", "GET", ME, 200),
        ("read", "GET", "/api/v1/attempts", 200),
        ("read", "GET", "/attempts", 200),
        ("submit", "POST", RUNS, 202),
        ("account", "GET", TOKENS, 200),
        ("account", "GET", "/api/v1/invitations", 200),
        ("account", "GET", "/account", 200),
    ],
)
async def test_each_scope_is_enough_and_needed(service, scope, method, path, status):
    body = {"json": {"source": "x"}} if method == "POST" else {}
    own = bearer(await make(service, scope))
    assert (await service.http.request(method, path, headers=own, **body)).status_code == status
    others = bearer(await make(service, *({"read", "submit", "account", "instruct"} - {scope})))
    refused = await service.http.request(method, path, headers=others, **body)
    assert (refused.status_code, refused.json()["slug"], refused.json()["scope"]) == (403, "scope-missing", scope)
    assert f"'{scope}'" in refused.json()["detail"]
    assert f'scope="{scope}"' in refused.headers["www-authenticate"]


async def test_a_students_token_cannot_have_the_scope_of_instructors(service):
    async with browser(service) as student, browser(service) as teacher:
        await sign_up(service, student, "ada")
        await sign_up(service, teacher, "grace", "instructor")
        asked = {"name": "laptop", "scopes": ["read", "instruct"]}
        refused = await student.post(TOKENS, json=asked, headers=SITE)
        assert (refused.status_code, refused.json()["slug"]) == (422, "field-invalid")
        assert refused.json()["detail"] == "scopes: 'instruct' requires the role instructor. Yours is student."
        assert (await student.post(TOKENS, json=asked | {"scopes": ["read"]}, headers=SITE)).status_code == 201
        assert (await teacher.post(TOKENS, json=asked, headers=SITE)).status_code == 201


async def test_a_token_hands_on_no_scope_that_it_lacks(service):
    manager = bearer(await make(service, "account", "read"))
    assert (await make(service, "read", headers=manager)).status_code == 201
    refused = await make(service, "read", "submit", headers=manager)
    assert (refused.status_code, refused.json()["slug"], refused.json()["scope"]) == (403, "scope-missing", "submit")
    reader = bearer(await make(service, "read"))
    assert (await make(service, "read", headers=reader)).json()["scope"] == "account"


async def test_a_token_that_ends_makes_none_that_outlives_it(service):
    short = bearer(await make(service, "account", expires_in_days=2))
    assert (await make(service, "account", headers=short)).status_code == 403
    assert (await make(service, "account", headers=short, expires_in_days=3)).status_code == 403
    assert (await make(service, "account", headers=short, expires_in_days=1)).status_code == 201


async def test_it_expires(service, monkeypatch):
    token = bearer(await make(service, "read", expires_in_days=1))
    assert (await service.http.get(ME, headers=token)).status_code == 200
    monkeypatch.setattr("app.accounts.tokens.now", lambda: now().replace(year=now().year + 1))
    answer = await service.http.get(ME, headers=token)
    assert (answer.status_code, answer.json()["slug"]) == (401, "token-invalid")
    assert (await service.http.get(ME, headers=service.bearer)).status_code == 200


async def test_it_is_revoked(service):
    made = await make(service, "read")
    gone = await service.http.delete(f"{TOKENS}/{made.json()['id']}", headers=service.bearer)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await service.http.get(ME, headers=bearer(made))).status_code == 401
    again = await service.http.delete(f"{TOKENS}/{made.json()['id']}", headers=service.bearer)
    assert (again.status_code, again.json()["slug"]) == (404, "token-not-found")


async def test_the_preset_one_is_not_revoked_here(service):
    [preset] = (await service.http.get(TOKENS, headers=service.bearer)).json()["tokens"]
    answer = await service.http.delete(f"{TOKENS}/{preset['id']}", headers=service.bearer)
    assert answer.status_code == 404
    assert "MESHGRADE_OWNER_TOKEN" in answer.json()["detail"]


async def test_a_restart_keeps_what_is_known_of_the_preset_one(start_service):
    async with start_service() as service:
        [before] = (await service.http.get(TOKENS, headers=service.bearer)).json()["tokens"]
        assert await service.services[Accounts].uses.write() == 1
    async with start_service() as service:
        [after] = (await service.http.get(TOKENS, headers=service.bearer)).json()["tokens"]
    assert after["id"] == before["id"]
    assert after["last_used_at"] is not None


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        ({"name": "", "scopes": ["read"]}, "field-invalid"),
        ({"name": "a\0b", "scopes": ["read"]}, "field-invalid"),
        ({"name": "x" * 101, "scopes": ["read"]}, "field-invalid"),
        ({"name": "x", "scopes": []}, "field-invalid"),
        ({"name": "x", "scopes": ["admin"]}, "field-invalid"),
        ({"name": "x", "scopes": ["read"], "expires_in_days": 0}, "field-invalid"),
        ({"name": "x", "scopes": ["read"], "expires_in_days": 367}, "field-invalid"),
        ({"name": "x"}, "field-missing"),
        ({"name": "x", "scopes": ["read"], "user": "owner"}, "field-unknown"),
    ],
)
async def test_a_wrong_wish_is_refused(service, body, slug):
    answer = await service.http.post(TOKENS, json=body, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (422, slug)


async def test_nobody_has_more_than_fifty(service):
    accounts = service.services[Accounts]
    caller = await accounts.tokens.caller(service.bearer["Authorization"].removeprefix("Bearer "))
    for number in range(49):  # and the preset one
        await accounts.tokens.create(caller, f"number {number}", ["read"], None)
    answer = await make(service, "read")
    assert (answer.status_code, answer.json()["slug"]) == (409, "too-many-tokens")


async def test_the_page_makes_shows_and_revokes_them(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        here = "/account/tokens"
        fields = {"name": "<b>laptop", "scopes-read": "on", "expires_in_days": ""}
        made = await send_form(http, here, here, **fields)
        assert (made.status_code, made.headers["cache-control"]) == (200, "no-store")
        token = made.text.split('id="secret" type="text" value="')[1].split('"')[0]
        assert (await http.get(ME, headers={"Authorization": f"Bearer {token}"})).json()["name"] == "ada"
        await service.services[Accounts].uses.write()
        page = (await http.get(here)).text
        assert token not in page
        assert "&lt;b&gt;laptop" in page
        assert "last used about" in page
        [view] = await service.services[Accounts].tokens.list((await http.get(ME)).json()["id"])
        assert view.scopes == ("read",)
        assert (await send_form(http, here, f"{here}/{view.id}/revoke")).status_code == 303
        assert (await http.get(ME, headers={"Authorization": f"Bearer {token}"})).status_code == 401
        wrong = await send_form(http, here, here, name="x", scopes="", expires_in_days="7")
        assert wrong.status_code == 422
        assert "choose at least one" in wrong.text


async def test_a_cookie_makes_tokens_from_this_site_alone(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        body = {"name": "x", "scopes": ["read"]}
        assert (await http.post(TOKENS, json=body)).status_code == 403
        assert (await http.post(TOKENS, json=body, headers=SITE)).status_code == 201
