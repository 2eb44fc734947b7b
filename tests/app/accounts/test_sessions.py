"""The browsers in which a user is signed in: listed, used, revoked."""

from datetime import timedelta

import pytest
from sqlalchemy import event, update

from app.accounts.models import SessionRow
from app.accounts.service import Accounts
from app.core.clock import now
from tests.app.accounts.people import PASSWORD, browser, form_token, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"


async def sessions_of(service, http):
    user_id = (await http.get(ME)).json()["id"]
    return await service.services[Accounts].sessions.list(user_id)


async def test_they_are_listed_with_browser_and_times_and_without_their_tokens(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        page = (await http.get("/account")).text
        assert "Test browser" in page
        assert "this browser" in page
        assert http.cookies["meshgrade_session"] not in page
        [session] = await sessions_of(service, http)
        assert session.last_used_at >= session.created_at


async def test_one_is_revoked_and_others_stay(service):
    async with browser(service) as here, browser(service) as there:
        await sign_up(service, here, "ada")
        await send_form(there, "/sign-in", "/sign-in", name="ada", password=PASSWORD)
        other = (await sessions_of(service, here))[0]
        answer = await send_form(here, "/account", f"/account/sessions/{other.id}/revoke")
        assert (answer.status_code, answer.headers["location"]) == (303, "/account#sessions")
        assert (await there.get(ME)).status_code == 401
        assert (await here.get(ME)).status_code == 200


async def test_all_others_are_revoked_at_once(service):
    async with browser(service) as here, browser(service) as there, browser(service) as stranger:
        await sign_up(service, stranger, "bob")
        await sign_up(service, here, "ada")
        await send_form(there, "/sign-in", "/sign-in", name="ada", password=PASSWORD)
        await send_form(here, "/account", "/account/sessions/revoke-others")
        assert (await there.get(ME)).status_code == 401
        assert (await here.get(ME)).status_code == 200
        assert (await stranger.get(ME)).status_code == 200


async def test_another_users_session_is_not_found(service):
    async with browser(service) as ada:
        await sign_in(service)
        await sign_up(service, ada, "ada")
        [theirs] = await sessions_of(service, service.http)
        page = (await ada.get("/account")).text
        token = form_token(page)
        for session_id in (theirs.id, "x", "\0", "a" * 32):
            path = f"/account/sessions/{session_id.replace(chr(0), '%00')}/revoke"
            answer = await ada.post(path, data={"form_token": token}, headers={"Origin": "http://meshgrade.test"})
            assert answer.status_code == 404
    assert (await service.http.get(ME)).status_code == 200


async def test_the_last_use_is_written_now_and_then(service, monkeypatch):
    await sign_in(service)
    [first] = await sessions_of(service, service.http)
    [second] = await sessions_of(service, service.http)
    assert await service.services[Accounts].uses.write() == 0
    assert second.last_used_at == first.last_used_at
    later = now() + timedelta(minutes=6)
    monkeypatch.setattr("app.accounts.last_use.now", lambda: later)
    await service.http.get(ME)
    assert await service.services[Accounts].uses.write() == 1
    [third] = await sessions_of(service, service.http)
    assert third.last_used_at == later


async def test_the_uses_of_many_are_written_at_once(each_database):
    accounts = Accounts(each_database, session_life=timedelta(days=1), link_life=timedelta(minutes=1))
    user = await accounts.add_user("ada", "student")
    async with each_database.writing() as session:
        opened = [await accounts.sessions.open(session, user.id, "browser") for _ in range(3)]
        await session.execute(update(SessionRow).values(last_used_at=None))
    for token in opened:
        assert await accounts.sessions.caller(token) is not None
    begun: list[object] = []
    event.listen(each_database.engine.sync_engine, "begin", begun.append)
    assert await accounts.uses.write() == 3
    assert len(begun) == 1
    assert all(each.last_used_at is not None for each in await accounts.sessions.list(user.id))
    assert await accounts.uses.write() == 0
    # Without anything to write, no transaction.
    assert len(begun) == 2


async def test_a_user_agent_can_be_anything(service):
    async with browser(service) as http:
        http.headers["User-Agent"] = "<script>\x01" + "x" * 1000
        await sign_up(service, http, "ada")
        [session] = await sessions_of(service, http)
        assert session.user_agent == "<script>" + "x" * 292
        assert "<script>x" not in (await http.get("/account")).text
