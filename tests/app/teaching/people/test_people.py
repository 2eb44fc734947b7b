"""Owners find somebody among many, change roles, shut out and let in again; and all of it is in the audit log."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import event

from app.accounts.models import UserRow
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.teaching.people.account_changes import reset_as_operator
from app.teaching.people.directory import EVERYBODY, Directory, PeopleFilter
from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
JSON = SITE | {"Accept": "application/json"}


async def id_of(service, name: str) -> str:
    [person] = await service.services[Directory].list(PeopleFilter(q=name), Cursor(10))
    return person.id


async def act(service, name: str, action: str, **fields: str):
    """As the owner, on the page of this person."""
    person_id = await id_of(service, name)
    return await send_form(service.http, f"/people/{person_id}", f"/people/{person_id}/{action}", **fields)


async def entries(service) -> list[tuple[str, str, str]]:
    answer = await service.http.get("/api/v1/audit", headers=service.bearer)
    return [(each["action"], (each["whom"] or {}).get("name"), each["reason"]) for each in answer.json()["entries"]]


async def add_many(service, count: int) -> None:
    async with service.services[Database].writing() as session:
        for number in range(count):
            name = f"student-{number:04}"
            session.add(UserRow(id=f"{number:032x}", name=name, role="student", created_at=now()))


async def test_a_thousand_are_listed_page_by_page_with_few_queries(either):
    await sign_in(either)
    await add_many(either, 1000)
    statements = []
    event.listen(
        either.services[Database].engine.sync_engine, "before_cursor_execute", lambda *args: statements.append(args[2])
    )
    found, address = [], "/people?role=student"
    while address:
        statements.clear()
        page = (await either.http.get(address, headers={"Accept": "text/html"})).text
        assert len([each for each in statements if "FROM users" in each]) <= 3
        assert "1000 accounts" in page
        found += re.findall(r'<a href="/people/\w{32}">([^<]+)</a>', page)
        further = re.search(r'<a href="([^"]+)">Next page', page)
        address = unescape(further[1]) if further else ""
    assert found == [f"student-{number:04}" for number in range(1000)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["ada", "a_c", "grace", "owner"]),
        ("?q=A", ["ada", "a_c", "grace"]),
        ("?q=a_", ["a_c"]),
        ("?q=%25", []),
        ("?q=%00", ["ada", "a_c", "grace", "owner"]),
        ("?role=instructor", ["grace"]),
        ("?state=deactivated", ["a_c"]),
        ("?state=active&q=a", ["ada", "grace"]),
        ("?role=nobody&state=x", ["ada", "a_c", "grace", "owner"]),
    ],
)
async def test_a_part_of_the_name_the_role_and_the_state_narrow_it_down(either, query, expected):
    await sign_in(either)
    async with either.services[Database].writing() as session:
        for name, role in (("ada", "student"), ("a_c", "student"), ("grace", "instructor")):
            gone = now() if name == "a_c" else None
            session.add(UserRow(id=name * 6, name=name, role=role, created_at=now(), deactivated_at=gone))
    page = (await either.http.get(f"/people{query}", headers={"Accept": "text/html"})).text
    assert sorted(re.findall(r'<a href="/people/\w+">([^<]+)</a>', page)) == sorted(expected)


async def test_over_rest_they_are_listed_for_instructors_by_the_same_filter(either):
    await add_many(either, 5)
    first = await either.http.get("/api/v1/people?q=student&limit=3", headers=either.bearer)
    names = [each["name"] for each in first.json()["people"]]
    assert (names, first.json()["next"]) == (["student-0000", "student-0001", "student-0002"], "student-0002")
    rest = await either.http.get("/api/v1/people?q=student&limit=3&after=student-0002", headers=either.bearer)
    assert ([each["name"] for each in rest.json()["people"]], rest.json()["next"]) == (
        ["student-0003", "student-0004"],
        None,
    )
    one = await either.http.get(f"/api/v1/people/{0:032x}", headers=either.bearer)
    assert (one.json()["name"], one.json()["last_active_at"], one.json()["deactivated_at"]) == (names[0], None, None)
    for unknown in ("x", "a%00b", "0" * 31 + "f", "guest"):
        missing = await either.http.get(f"/api/v1/people/{unknown}", headers=either.bearer)
        assert (missing.status_code, missing.json()["slug"]) == (404, "person-not-found")


async def test_a_new_role_counts_at_once_and_takes_invitations_with_it(either):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        assert (await ada.get("/people")).status_code == 403
        changed = await act(either, "ada", "role", role="instructor", reason="teaches <b>two</b>")
        assert changed.status_code == 303
        assert "The role was changed." in (await either.http.get(changed.headers["location"])).text
        assert (await ada.get("/people")).status_code == 200
        invited = await ada.post("/api/v1/invitations", json={}, headers=JSON)
        link = invited.json()["url"].removeprefix("http://meshgrade.test")
        await act(either, "ada", "role", role="student")
        assert (await ada.get("/people")).status_code == 403
        async with browser(either) as stranger:
            assert (await stranger.get(link)).status_code == 403
    assert await entries(either) == [("role-changed", "ada", ""), ("role-changed", "ada", "teaches <b>two</b>")]
    page = (await either.http.get("/audit", headers={"Accept": "text/html"})).text
    assert "changed the role: student to instructor" in page
    assert "teaches &lt;b&gt;two&lt;/b&gt;" in page


async def test_a_role_that_they_have_and_one_that_there_is_not_change_nothing(either):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
    assert (await act(either, "ada", "role", role="student")).status_code == 303
    refused = await act(either, "ada", "role", role="root")
    assert (refused.status_code, "role: must be student, instructor or owner" in refused.text) == (422, True)
    long = await act(either, "ada", "role", role="owner", reason="x" * 201)
    assert (long.status_code, "reason: must have at most 200 characters" in long.text) == (422, True)
    assert await entries(either) == []


async def test_the_last_owner_stays(either):
    await sign_in(either)
    refused = await act(either, "owner", "role", role="student")
    assert (refused.status_code, "the only owner who can sign in" in refused.text) == (409, True)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada", "owner")
        await act(either, "ada", "deactivate")
    refused = await act(either, "owner", "role", role="student")
    assert refused.status_code == 409  # the other one cannot sign in
    deletion = await either.http.delete("/api/v1/me?name=owner", headers=either.bearer)
    assert (deletion.status_code, deletion.json()["slug"]) == (409, "last-owner")
    await act(either, "ada", "reactivate")
    assert (await act(either, "owner", "role", role="instructor")).status_code == 303
    assert (await either.services[Accounts].ensure_owner()).name == "ada"


async def test_an_owner_cannot_shut_themselves_out(either):
    await sign_in(either)
    person = f"/api/v1/people/{await id_of(either, 'owner')}"
    for action in ("deactivate", "password-reset"):
        answer = await either.http.post(f"{person}/{action}", json={}, headers=JSON)
        assert (answer.status_code, answer.json()["slug"]) == (409, "own-account")


async def test_who_is_deactivated_is_out_everywhere_until_they_are_reactivated(either):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada", "instructor")
        made = await ada.post("/api/v1/tokens", json={"name": "laptop", "scopes": ["read"]}, headers=JSON)
        invitation = (await ada.post("/api/v1/invitations", json={}, headers=JSON)).json()["url"]
        bearer = {"Authorization": f"Bearer {made.json()['token']}"}
        assert (await either.http.get("/api/v1/me", headers=bearer)).status_code == 200
        assert (await act(either, "ada", "deactivate", reason="left")).status_code == 303

        assert (await ada.get("/account")).status_code == 401
        assert (await either.http.get("/api/v1/me", headers=bearer)).json()["slug"] == "token-invalid"
        assert (await ada.get(invitation)).status_code == 403
        ada.cookies.clear()
        refused = await send_form(ada, "/sign-in", "/sign-in", name="ada", password=PASSWORD)
        assert (refused.status_code, "This account is deactivated" in refused.text) == (403, True)
        wrong = await send_form(ada, "/sign-in", "/sign-in", name="ada", password="not the password")
        assert (wrong.status_code, "deactivated" in wrong.text) == (401, False)
        link = await reset_as_operator(either.services[Database], either.services[Accounts], "ada")
        assert (await ada.get("/sign-in", params={"token": link})).status_code == 403

        assert (await act(either, "ada", "reactivate")).status_code == 303
        assert (await ada.get("/sign-in", params={"token": link})).status_code == 303
        assert (await either.http.get("/api/v1/me", headers=bearer)).status_code == 200
    assert await entries(either) == [
        ("reactivated", "ada", ""),
        ("password-reset-by-operator", "ada", ""),
        ("deactivated", "ada", "left"),
    ]


async def test_a_reset_shows_a_link_once_that_signs_one_browser_in(either):
    await sign_in(either)
    async with browser(either) as ada, browser(either) as phone:
        await sign_up(either, ada, "ada")
        page = await act(either, "ada", "password-reset", reason="forgot it")
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
        link = unescape(re.search(r'value="(http://meshgrade.test/sign-in\?token=[^"]+)"', page.text)[1])
        assert (await ada.get("/account")).status_code == 401
        assert (await phone.get(link)).status_code == 303
        assert (await ada.get(link)).status_code == 403
        new = {"new": "another long password"}
        assert (await send_form(phone, "/account", "/account/password", **new)).status_code == 303
        token = link.partition("token=")[2]
    for path in ("/audit", "/api/v1/audit"):
        text = (await either.http.get(path)).text
        assert "forgot it" in text
        assert token not in text
    assert await entries(either) == [("password-reset", "ada", "forgot it")]


async def test_a_deactivated_account_gets_no_link(either):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
    await act(either, "ada", "deactivate")
    person = f"/api/v1/people/{await id_of(either, 'ada')}"
    answer = await either.http.post(f"{person}/password-reset", json={}, headers=JSON)
    assert (answer.status_code, answer.json()["slug"]) == (409, "person-deactivated")


async def test_what_lets_in_needs_a_browser_and_a_recent_sign_in_but_shutting_out_does_not(either, monkeypatch):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
    person = f"/api/v1/people/{await id_of(either, 'ada')}"
    letting_in = {"PUT role": {"role": "instructor"}, "POST reactivate": {}, "POST password-reset": {}}
    for operation, body in letting_in.items():
        method, action = operation.split()
        either.http.cookies, saved = type(either.http.cookies)(), either.http.cookies
        by_token = await either.http.request(method, f"{person}/{action}", json=body, headers=either.bearer)
        either.http.cookies = saved
        assert (by_token.status_code, by_token.json()["slug"]) == (403, "session-needed")
    with monkeypatch.context() as patch:
        patch.setattr("app.accounts.recent_sign_in.now", lambda: now() + timedelta(minutes=16))
        page = (await either.http.get(f"/people/{await id_of(either, 'ada')}", headers={"Accept": "text/html"})).text
        assert "Confirm that it is you" in page
        assert "/deactivate" in page
        assert "/role" not in page
        for operation, body in letting_in.items():
            method, action = operation.split()
            late = await either.http.request(method, f"{person}/{action}", json=body, headers=JSON)
            assert (late.status_code, late.json()["slug"]) == (403, "sign-in-again")
            if method == "POST":
                form = {"form_token": form_token(page)}
                where = f"{person.removeprefix('/api/v1')}/{action}"
                led = await either.http.post(where, data=form, headers=SITE | {"Accept": "text/html"})
                assert led.headers["location"].startswith("/sign-in/again?next=%2Fpeople%2F")
    done = await either.http.post(f"{person}/deactivate", json={"reason": "urgent"}, headers=either.bearer)
    assert (done.status_code, done.json()["deactivated_at"] is not None) == (200, True)


async def test_instructors_look_and_do_not_touch(either):
    async with browser(either) as teacher:
        await sign_up(either, teacher, "teacher", "instructor")
        page = (await teacher.get(f"/people/{await id_of(either, 'owner')}")).text
        assert "<h1>owner</h1>" in page
        assert 'action="/people/' not in page
        assert "Audit log" not in (await teacher.get("/people")).text


async def test_the_log_outlives_the_accounts_without_their_names_and_is_in_the_export_until_then(either):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        await act(either, "ada", "role", role="instructor", reason="why")
        [entry] = (await ada.get("/api/v1/me/export")).json()["audit_log"]
        assert (entry["action"], entry["reason"]) == ("role-changed", "why")
        [mine] = (await either.http.get("/api/v1/me/export")).json()["audit_log"]
        assert mine == entry
        assert (await ada.delete("/api/v1/me?name=ada", headers=JSON)).status_code == 204
    [entry] = (await either.http.get("/api/v1/audit", headers=either.bearer)).json()["entries"]
    assert (entry["actor"]["name"], entry["whom"], entry["reason"]) == ("owner", None, "why")
    assert "a deleted account" in (await either.http.get("/audit", headers={"Accept": "text/html"})).text


async def test_the_log_is_read_in_pages(either):
    await sign_in(either)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
    for number in range(6):
        await act(either, "ada", "reactivate" if number % 2 else "deactivate", reason=str(number))
    reasons, before = [], ""
    while before is not None:
        query = f"?limit=4&before={before}" if before else "?limit=4"
        page = (await either.http.get(f"/api/v1/audit{query}", headers=either.bearer)).json()
        reasons += [each["reason"] for each in page["entries"]]
        before = page["next"]
    assert reasons == ["5", "4", "3", "2", "1", "0"]
    for unknown in ("0" * 32, "f" * 32):
        answer = await either.http.get(f"/api/v1/audit?before={unknown}", headers=either.bearer)
        assert (answer.status_code, answer.json()["slug"]) == (404, "audit-entry-not-found")


async def test_guests_are_nobody(either):
    async with either.services[Database].writing() as session:
        session.add(UserRow(id="guest", name="(guest)", role="student", created_at=now()))
    assert [each.name for each in await either.services[Directory].list(EVERYBODY, Cursor(10))] == ["owner"]
    assert await either.services[Directory].count(EVERYBODY) == 1
