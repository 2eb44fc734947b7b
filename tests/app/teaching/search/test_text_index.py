"""The full-text index on SQLite and PostgreSQL: which sections have the words, and which documents it replaces."""

import pytest
from sqlalchemy import func, select

from app.core.database import Database
from app.teaching.search.models import SectionRow
from app.teaching.search.text_index import TextIndex, query_terms
from app.teaching.search.texts import Document, Section

pytestmark = pytest.mark.anyio
TEXTS = {
    "vma": "With check_vma=False, JAX tracks nothing.",
    "scheduler": "The latency-hiding scheduler moves jax.lax.ragged_all_to_all, not </b>offloading</b>.",
    "other": "A scheduler hides nothing. See lessons/rings and x:NCCL.",
}


def document(key: str = "lesson:one", digest: str = "1", texts: dict[str, str] = TEXTS):
    sections = [Section(f"/lessons/one#{name}", name, text) for name, text in texts.items()]

    async def read() -> list[Section]:
        return sections

    return Document(key, "Lesson", "One", digest, read), sections


@pytest.fixture
async def index(each_database: Database) -> TextIndex:
    index = TextIndex(each_database)
    await index.replace([document()])
    return index


async def found(index: TextIndex, query: str, most: int = 10) -> list[str]:
    return [each.heading for each in await index.find(query_terms(query), most)]


@pytest.mark.parametrize(
    ("query", "headings"),
    [
        ("check_vma", ["vma"]),
        ("CHECK vma", ["vma"]),
        ("latency hiding scheduler", ["scheduler"]),
        ("ragged", ["scheduler"]),
        ("jax.lax.ragged_all", ["scheduler"]),
        ("offload", ["scheduler"]),
        ("NCCL", ["other"]),
        ("rings", ["other"]),
        ("ings", []),
        ("check scheduler", []),
        ("vma check", ["vma"]),
        ("vma_check", []),
        ("jax.lax check", []),
        ("latency-hiding", ["scheduler"]),
        ("latency-scheduler", []),
    ],
)
async def test_a_section_is_found_by_the_beginnings_of_all_its_words(index, query, headings):
    assert await found(index, query) == headings


async def test_a_word_of_the_heading_counts_more(index):
    assert await found(index, "scheduler") == ["scheduler", "other"]
    assert await found(index, "scheduler", most=1) == ["scheduler"]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'",
        "\\",
        "NEAR(check vma)",
        "check NOT vma",
        "heading:vma",
        "-vma check",
        "check:*A & !vma",
        "(vma",
        "vma\0",
        "^vma",
    ],
)
async def test_nothing_typed_is_syntax_of_the_database(index, query):
    """Each is words alone: what it finds has all of them."""
    words = [word for term in query_terms(query) for word in term]
    for heading in await found(index, query):
        assert all(word in f"{heading} {TEXTS[heading]}".lower() for word in words)


def test_a_query_without_a_longer_word_is_not_looked_for_and_a_long_one_is_cut():
    assert query_terms(" a _ - bc ") == []
    assert len(query_terms("word " * 50)) < 50
    assert len(query_terms("word_" * 50)[0]) < 50


async def test_a_changed_document_replaces_what_it_was(index, each_database):
    await index.replace([document(digest="2", texts={"new": "nothing of that"}), document("lesson:two", "1", TEXTS)])
    assert await index.digests() == {"lesson:one": "2", "lesson:two": "1"}
    assert await found(index, "check_vma") == ["vma"]
    assert await found(index, "new") == ["new"]
    await index.remove(["lesson:two"])
    assert await found(index, "check_vma") == []
    async with each_database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(SectionRow)) == 1


async def test_what_another_server_has_indexed_is_not_written_again(index):
    await index.replace([document(texts={"never": "seen"})])
    assert await found(index, "seen") == []
