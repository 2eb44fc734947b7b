"""Sections of what ships are found by their words, with the place marked, and nothing else is."""

import re
from dataclasses import replace

import pytest
from fastapi import FastAPI

from app.core.database import Database
from app.core.settings import CHECKOUT
from app.learning.lessons.lesson_files import Lessons
from app.operations.help.rest_reference import RestOperations
from app.problems.catalogue import Catalogue
from app.problems.rendered_texts import RenderedTexts
from app.teaching.search.section_search import SectionSearch, snippet_of
from app.teaching.search.text_index import TextIndex, query_terms
from app.teaching.search.texts import SearchedTexts
from grader.review.reader import read_package

pytestmark = pytest.mark.anyio
# People arrive with the word of an error.
QUERIES = (
    *("latency hiding scheduler", "check_vma", "NCCL", "offload", "ragged", "pinned_host", "ragged_all_to_all"),
    *("cudnn", "Pallas"),
)
_QUESTION = re.compile(r"^::: *question.*?^:::$", re.DOTALL | re.MULTILINE)


def has(text: str, query: str) -> bool:
    """Whether the words stand next to each other, outside questions, whose answers the search leaves out."""
    return re.search(r"[\W_]+".join(re.split(r"[\W_]+", query)), _QUESTION.sub("", text), re.IGNORECASE) is not None


def shipped() -> tuple[Catalogue, Lessons]:
    """All lessons, the problems whose statements have one of the words, and one other problem."""
    folders = sorted(each.parent for each in (CHECKOUT / "problems").glob("*/statement.md"))
    texts = {each: (each / "statement.md").read_text() for each in folders}
    named = [each for each in folders if any(has(texts[each], query) for query in QUERIES)]
    other = next(each for each in folders if each not in named)
    return Catalogue([read_package(each) for each in (*named, other)]), Lessons.load(CHECKOUT / "lessons")


async def test_the_words_of_errors_lead_to_every_text_that_has_them(each_database: Database):
    catalogue, lessons = shipped()
    texts = SearchedTexts(catalogue, lessons, RenderedTexts(each_database), RestOperations(FastAPI()))
    search = SectionSearch(texts, TextIndex(each_database))
    assert await search.refresh() == len(texts.documents())
    pages = {f"/lessons/{each.slug}": each.markdown for each in lessons.all()}
    pages |= {f"/problems/{each.slug}": each.statement for each in catalogue.all()}
    with_results = 0
    for query in QUERIES:
        hits = await search.find(query, 1000)
        expected = {page for page, text in pages.items() if has(text, query)}
        assert expected <= {hit.path.partition("#")[0] for hit in hits}
        for hit in hits:
            assert any(part.found for part in hit.snippet) or query.split()[0].lower() in hit.title.lower()
        with_results += bool(hits)
    assert with_results == len(QUERIES)
    # A restart finds that nothing has changed, and divides no text.
    again = SectionSearch(texts, TextIndex(each_database))
    assert await again.refresh() == 0
    assert await again.find("check_vma", 1) == await search.find("check_vma", 1)


async def test_what_a_server_of_another_release_has_indexed_is_not_shown_and_replaced(each_database: Database):
    texts = SearchedTexts(Catalogue([]), Lessons(), RenderedTexts(each_database), RestOperations(FastAPI()))
    search = SectionSearch(texts, index := TextIndex(each_database))
    await search.refresh()
    assert [hit.path for hit in await search.find("psum lax.cond", 5)] == ["/help/reasons#divergent_collective"]
    [document] = [each for each in texts.documents() if each.key == "help:reasons"]
    await index.replace([(replace(document, digest="another"), await document.read())])
    assert await search.refresh() == 0
    assert await search.find("psum lax.cond", 5) == []
    assert await search.refresh() == 1
    assert await search.find("psum lax.cond", 5) != []


async def test_every_address_of_a_section_is_one_of_its_page(start_service, package):
    async with start_service() as service:
        texts = service.services[SearchedTexts]
        documents = {each.key: each for each in texts.documents()}
        for key in (
            "problem:add_one",
            "help:reasons",
            "help:errors",
            "help:rest",
            f"lesson:{service.services[Lessons].all()[0].slug}",
        ):
            sections = await documents[key].read()
            page = (await service.http.get(sections[0].path.partition("#")[0])).text
            assert sections
            assert [
                each.path for each in sections if "#" in each.path and f'id="{each.path.partition("#")[2]}"' not in page
            ] == []


async def test_an_operation_of_rest_is_found_by_what_it_does(start_service):
    async with start_service() as service:
        search = service.services[SectionSearch]
        await search.refresh()
        [first, *_] = await search.find("compile a source for each mesh", 5)
    assert (first.path, first.source) == ("/help/rest#explore", "Help: REST API")
    assert first.title == "POST /api/v1/explorations"


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("check_vma=False stops it", "check_vma", "[check_vma]=False stops it"),
        ("Checks.\n\nThe CHECK", "check", "[Check]s. The [CHECK]"),
        ("recheck", "check", "recheck"),
        ("check, vma and check_vma", "check_vma", "[check, vma] and [check_vma]"),
        ("a check of latency-hiding", "hiding latency", "a check of [latency-hiding]"),
        ("nothing of it", "check", "nothing of it"),
        ("<b>check</b>", "check", "<b>[check]</b>"),
    ],
)
def test_a_snippet_marks_each_term(text, query, shown):
    assert (
        "".join(f"[{each.text}]" if each.found else each.text for each in snippet_of(text, query_terms(query))) == shown
    )


def test_a_snippet_is_the_part_of_a_long_text_that_has_the_words():
    text = "before " * 100 + "NCCL " + "after " * 100
    parts = list(snippet_of(text, [("nccl",)]))
    shown = "".join(each.text for each in parts)
    assert shown.startswith("… before ")
    assert shown.endswith(" after …")
    assert [each.text for each in parts if each.found] == ["NCCL"]
    assert len(shown) < 200
