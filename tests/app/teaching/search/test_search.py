"""The search over the site: what it finds, for whom, and in which order."""

import shutil

import pytest

from app.teaching.search.section_search import SectionSearch
from app.teaching.search.texts import SearchedTexts
from grader.package.variants import every_variant
from grader.review.reader import read_package
from tests.app.accounts.people import browser
from tests.app.authoring.test_publish import publish
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES
from tests.app.problems.test_variants import PACKAGES
from tests.app.teaching.courses.exam_problem import MARKS, SLUG, give
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people

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


async def in_texts(service, http, q):
    """The addresses that are found in texts."""
    await service.services[SectionSearch].refresh()
    answer = await http.get("/search/found", params={"q": q})
    return [hit["path"] for hit in answer.json() if hit["group"] == "In texts"]


async def test_a_statement_is_found_by_its_words_after_all_titles_and_shown_escaped(either):
    statement = "Add one.\n\n## Why <i>\n\nThe wordofanerror is `<b>` here.\n"
    version = (await upload(either, FILES | {"statement.md": statement})).json()["version"]
    assert (await publish(either, version)).status_code == 200
    assert await in_texts(either, either.http, "wordofanerr") == ["/problems/add_one#s-why-i"]
    answer = (await either.http.get("/search/found", params={"q": "wordofanerr"})).json()
    assert answer[-1]["detail"] == "Problem: Add one"
    assert [part["text"] for part in answer[-1]["snippet"] if part["found"]] == ["wordofanerr"]
    page = (await either.http.get("/search", params={"q": "wordofanerr"})).text
    assert "In texts" in page
    assert "The <mark>wordofanerr</mark>or is &lt;b&gt; here." in page
    groups = [group for group, _ in await found(either.http, "one")]
    assert groups.index("In texts") == len(groups) - groups.count("In texts")


async def test_what_a_statement_does_not_show_is_not_found(service):
    texts = service.services[SearchedTexts].documents()
    assert "problem:add_one" in [each.key for each in texts]
    for q in ("EDITORIAL-SECRET", "REFERENCE-SECRET", "CASES-SECRET", "more than zero"):
        assert await in_texts(service, service.http, q) == []


async def test_the_statement_of_a_problem_that_only_a_course_sees_is_not_found(either, people):
    ada, _bob, tess = people
    course = await create(tess)
    await join(ada, course)
    await give(either, tess, course, visible_from=at(days=-1))
    assert MARKS["statement"] in (await ada.get(f"/problems/{SLUG}")).text
    for http in (ada, tess):
        assert await in_texts(either, http, MARKS["statement"]) == []


async def test_who_sees_another_version_of_a_problem_does_not_find_the_published_one(either, people):
    ada, bob, tess = people
    course = await create(tess)
    await join(ada, course)
    published = (await upload(either, FILES | {"statement.md": "Add one, wordofall."})).json()["version"]
    assert (await publish(either, published)).status_code == 200
    version = (await upload(either, FILES | {"statement.md": "Add one, wordofanexam."})).json()["version"]
    body = {"problem": "add_one", "version": version}
    given = await tess.post(f"/api/v1/courses/{course['id']}/problems", json=body, headers=JSON)
    assert given.status_code == 201
    assert await in_texts(either, bob, "wordof") == ["/problems/add_one"]
    assert await in_texts(either, bob, "wordofanexam") == []
    assert await in_texts(either, ada, "wordof") == []


async def test_a_section_that_variants_do_not_share_is_not_found(tmp_path, package, start_service):
    shutil.copytree(PACKAGES / "scale_by", tmp_path / "problems" / "scale_by")
    async with start_service() as service:
        documents = {each.key: each for each in service.services[SearchedTexts].documents()}
        shared = [each.text for each in await documents["problem:scale_by"].read()]
    statements = {each.statement for each in every_variant(read_package(PACKAGES / "scale_by"))}
    assert len(statements) > 1
    assert shared == []
