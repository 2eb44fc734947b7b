"""A reader marks a lesson as read: with an account on the server, without one in the browser."""

import pytest
from sqlalchemy import select

from app.core.database import Database
from app.learning.lessons.models import LessonReadRow
from tests.app.accounts.people import SITE, browser, form_token, sign_in
from tests.app.learning.lessons.folders import write_lesson

pytestmark = pytest.mark.anyio
HTML = {"Accept": "text/html"}
MARK = "Read</span>"


@pytest.fixture
async def service(start_service, tmp_path, database_url):
    async with start_service(lessons=write_lesson(tmp_path), database_url=database_url) as service:
        yield service


async def show(http, path):
    return (await http.get(path, headers=HTML)).text


async def mark(http, read, slug="first"):
    form = {"form_token": form_token(await show(http, "/lessons/first")), "read": read}
    return await http.post(f"/lessons/{slug}/read", data=form, headers=SITE | HTML)


async def stored(service):
    async with service.services[Database].reading() as session:
        return (await session.scalars(select(LessonReadRow.lesson))).all()


async def test_the_lesson_and_the_list_show_the_mark_of_an_account(service):
    await sign_in(service)
    assert MARK not in await show(service.http, "/lessons")
    for _ in range(2):
        answer = await mark(service.http, "yes")
        assert (answer.status_code, answer.headers["location"]) == (303, "/lessons/first#read")
        assert "meshgrade_lessons" not in answer.headers.get("set-cookie", "")
    assert await stored(service) == ["first"]
    for path in ("/lessons", "/lessons/first"):
        assert MARK in await show(service.http, path)
    assert "Mark as unread" in await show(service.http, "/lessons/first")
    async with browser(service) as guest:
        assert MARK not in await show(guest, "/lessons")
    await mark(service.http, "no")
    assert await stored(service) == []
    assert MARK not in await show(service.http, "/lessons")


async def test_the_mark_of_a_guest_stays_in_the_browser(service):
    async with browser(service) as guest:
        await mark(guest, "yes")
        for path in ("/lessons", "/lessons/first"):
            assert MARK in await show(guest, path)
        assert guest.cookies["meshgrade_lessons"] == "first"
        await mark(guest, "no")
        assert MARK not in await show(guest, "/lessons")
    assert await stored(service) == []


async def test_only_a_lesson_of_this_server_is_marked(service):
    async with browser(service) as guest:
        assert (await mark(guest, "yes", "second")).status_code == 404
        assert "meshgrade_lessons" not in guest.cookies
        answer = await guest.post("/lessons/first/read", data={"read": "yes"}, headers=SITE | HTML)
        assert answer.status_code == 403
