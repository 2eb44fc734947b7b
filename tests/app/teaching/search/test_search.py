"""The search over the site: what it finds, for whom, and in which order."""

import pytest

from tests.app.accounts.people import browser
from tests.app.teaching.courses.test_courses import create, join, people

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def found(http, q=""):
    answer = await http.get("/search/found", params={"q": q})
    assert answer.status_code == 200
    return [(hit["group"], hit["title"]) for hit in answer.json()]


async def test_a_problem_is_found_by_its_title_its_slug_and_its_tags(service):
    for q in ("add", "add_one", "ADD  one"):
        assert [hit for hit in await found(service.http, q) if hit[0] == "Problems"] == [("Problems", "Add one")]
    assert await found(service.http, "add nothing like this") == []


async def test_a_title_that_begins_with_the_query_comes_first(service):
    hits = [title for group, title in await found(service.http, "wrong") if group == "Reasons"]
    assert hits
    assert hits[0].startswith("Wrong")


async def test_nothing_typed_yet_shows_where_one_can_go(service):
    hits = await found(service.http)
    assert ("Pages", "Lessons") in hits
    assert not [hit for hit in hits if hit[0] in ("Problems", "People")]


async def test_settings_need_an_account_and_people_a_role(either, people):
    ada, _bob, tess = people
    assert ("Settings", "Password") in await found(ada, "password")
    assert ("People", "bob") not in await found(ada, "bob")
    assert ("People", "bob") in await found(tess, "bob")
    assert ("Pages", "Teach") in await found(tess, "teach")
    assert ("Pages", "Teach") not in await found(ada, "teach")
    assert ("Pages", "Admin") not in await found(tess, "admin")


async def test_a_guest_finds_neither_settings_nor_people(service):
    async with browser(service) as guest:
        for q in ("password", "owner"):
            assert {group for group, _ in await found(guest, q)} <= {"Problems", "Lessons", "Reasons", "Pages"}


async def test_a_course_is_found_by_its_members(either, people):
    ada, bob, tess = people
    course = await create(tess)
    await join(ada, course)
    assert [title for group, title in await found(ada, course["name"]) if group == "Courses"] == [course["name"]]
    assert [title for group, title in await found(bob, course["name"]) if group == "Courses"] == []


async def test_the_page_shows_the_same_and_takes_any_length(service):
    page = (await service.http.get("/search", params={"q": "add_one"})).text
    assert 'href="/problems/add_one"' in page
    assert "Nothing found" in (await service.http.get("/search", params={"q": "x" * 5000})).text
    assert (await service.http.get("/search/found", params={"q": "x" * 101})).status_code == 422
    assert "&lt;b&gt;" in (await service.http.get("/search", params={"q": "<b>"})).text
