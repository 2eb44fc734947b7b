"""A reader who has the current list gets 304. After a change of the list, the ETag is another one.

tests/app/page_tag_rule.py checks in all tests that pages with equal tags are equal.
"""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts

from app.core.settings import Settings
from app.entry.main import create_app
from app.grading.queue.local_judge import LocalJudge
from tests.app.accounts.people import browser, send_form, sign_in
from tests.app.teaching.courses.test_courses import create

pytestmark = pytest.mark.anyio
ACCEPTED = "def add_one(x): return x + 1\n"
# By template, its address. Those with a course or a person are about one.
PAGES = {
    "grading/attempts/attempts.html": "/attempts",
    "learning/browse/problems.html": "/problems",
    "learning/browse/lessons.html": "/lessons",
    "learning/workbench/reports.html": "/reports",
    "accounts/audit/audit.html": "/audit",
    "teaching/people/people.html": "/people",
    "teaching/people/person_attempts.html": "/people/{person}/attempts",
    "teaching/people/problem_people.html": "/problems/add_one/people",
    "teaching/courses/courses.html": "/courses",
    "teaching/courses/announcements.html": "/courses/{course}/announcements",
    "teaching/courses/course_people.html": "/courses/{course}/people",
    "teaching/courses/gradebook.html": "/courses/{course}/gradebook",
}


def rest_lists() -> Iterator[tuple[str, dict[int | str, object]]]:
    """The paths over REST that respond with a page of a list, and their described responses."""
    for each in iter_route_contexts(create_app(Settings()).routes):
        route = each.original_route
        if "GET" in (each.methods or ()) and "next" in getattr(
            getattr(route, "response_model", None), "model_fields", ()
        ):
            yield each.path, route.responses


def test_every_list_that_is_rendered_only_if_it_changed_is_in_this_test():
    source = "".join(each.read_text() for each in Path("app").rglob("*.py"))
    assert set(re.findall(r'render_list\(\s*"([^"]+)"', source)) == set(PAGES)


def test_the_description_of_each_list_names_its_tag():
    lists = dict(rest_lists())
    assert "/api/v1/attempts" in lists
    for path, responses in lists.items():
        assert {200, 304} <= set(responses), path


@pytest.fixture
async def service(start_service):
    """With problems that are prepared, because their list says how far that is."""
    async with start_service() as running:
        judge = running.services[LocalJudge]
        while (preparation := judge.preparation()) is None or preparation.is_news:
            await asyncio.sleep(0.01)
        yield running


async def again(http, address: str, etag: str):
    return await http.get(address, headers={"If-None-Match": etag})


@pytest.mark.parametrize("path", sorted(path for path, _ in rest_lists() if "{" not in path))
async def test_an_unchanged_list_is_not_sent_again(shared_service, path):
    first = await shared_service.http.get(path, headers=shared_service.bearer)
    etag = first.headers["etag"]
    second = await shared_service.http.get(path, headers=shared_service.bearer | {"If-None-Match": etag})
    assert (second.status_code, second.content, second.headers["etag"]) == (304, b"", etag)
    assert second.headers["cache-control"] == first.headers["cache-control"] == "private, no-cache"
    assert "ratelimit" in second.headers


async def test_an_unchanged_page_is_not_sent_again(service):
    async with browser(service) as http:
        await sign_in(service, http)
        await submit(http)
        course = (await create(http))["id"]
        person = (await http.get("/api/v1/me")).json()["id"]
        for path in PAGES.values():
            address = path.format(person=person, course=course)
            first = await http.get(address)
            assert first.status_code == 200, first.text
            etag = first.headers["etag"]
            second = await again(http, address, etag)
            assert (second.status_code, second.content, second.headers["etag"]) == (304, b"", etag)
            assert "set-cookie" not in second.headers
            # What was typed and refused is never taken for the page itself.
            assert (await again(http, f"{address}?x", etag)).status_code == 200


async def submit(http) -> str:
    sent = await http.post(
        "/api/v1/problems/add_one/attempts?wait=60",
        json={"source": ACCEPTED},
        headers={"Origin": "http://meshgrade.test"},
    )
    assert sent.status_code == 200, sent.text
    attempt_id: str = sent.json()["id"]
    return attempt_id


async def test_each_change_that_shows_is_sent(service):
    async with browser(service) as http:
        await sign_in(service, http)
        await changes(http, ("/attempts", "/problems", "/lessons", "/api/v1/attempts"), submit)

        async def announce(http):
            sent = await send_form(http, f"/courses/{course}", f"/courses/{course}/announcements", text="Welcome")
            assert sent.status_code == 303

        course = (await create(http))["id"]
        await changes(http, (f"/courses/{course}/announcements", f"/courses/{course}/audit"), announce)
        await changes(http, ("/courses", "/audit", "/api/v1/courses"), create)

        async def choose_dark(http):
            http.cookies.set("meshgrade_theme", "dark")

        await changes(http, ("/attempts", "/problems"), choose_dark)


async def changes(http, addresses, change) -> None:
    before = {each: (await http.get(each)).headers["etag"] for each in addresses}
    for address, etag in before.items():
        assert (await again(http, address, etag)).status_code == 304, address
    await change(http)
    for address, etag in before.items():
        after = await again(http, address, etag)
        assert (after.status_code, after.headers["etag"] != etag) == (200, True), address


async def test_another_reader_of_the_same_browser_gets_the_page(service):
    async with browser(service) as http:
        seen = (await http.get("/problems")).headers.get("etag")
        # The first page sets the cookie that its forms are bound to.
        assert seen is None
        etag = (await http.get("/problems")).headers["etag"]
        assert (await again(http, "/problems", etag)).status_code == 304
        await sign_in(service, http)
        assert (await again(http, "/problems", etag)).status_code == 200
