"""The answers of references in the database, as the threads of a judge read and write them."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.core.database import Database
from app.grading.queue import shared_answers
from app.grading.queue.models import SharedAnswersRow
from app.grading.queue.shared_answers import AnswersInDatabase

pytestmark = pytest.mark.anyio
FILES = {"cases.frame": b"a list", "public-1.frame": bytes(range(256))}


@pytest.fixture
async def answers(each_database: Database) -> AnswersInDatabase:
    return AnswersInDatabase(each_database, asyncio.get_running_loop())


async def test_a_thread_reads_what_another_wrote(answers):
    assert await asyncio.to_thread(answers.fetch, "key") is None
    await asyncio.to_thread(answers.offer, "key", FILES)
    await asyncio.to_thread(answers.offer, "key", {"cases.frame": b"another"})
    assert await asyncio.to_thread(answers.fetch, "key") == FILES


async def test_too_much_is_not_stored(answers, monkeypatch):
    monkeypatch.setattr(shared_answers, "_MAX_BYTES", 100)
    await asyncio.to_thread(answers.offer, "key", FILES)
    assert await asyncio.to_thread(answers.fetch, "key") is None


async def test_old_ones_are_removed(answers, each_database, monkeypatch):
    await asyncio.to_thread(answers.offer, "old", FILES)
    monkeypatch.setattr(shared_answers, "_KEEP", timedelta(0))
    await asyncio.to_thread(answers.offer, "new", FILES)
    async with each_database.reading() as session:
        assert list(await session.scalars(select(SharedAnswersRow.key))) == ["new"]


async def test_what_is_damaged_counts_as_missing(answers, each_database):
    await asyncio.to_thread(answers.offer, "key", FILES)
    archive = shared_answers.packed(FILES)
    for damaged in (b"no archive", archive[:-30], archive[:45] + b"\0\0\0\0" + archive[49:]):
        async with each_database.writing() as session:
            await session.execute(update(SharedAnswersRow).values(files=damaged))
        assert await asyncio.to_thread(answers.fetch, "key") is None


async def test_without_a_database_the_judge_computes_them(answers, each_database, monkeypatch):
    async def unavailable(key: str) -> bytes:
        raise shared_answers.UNAVAILABLE[-1]

    monkeypatch.setattr(answers, "_read", unavailable)
    assert await asyncio.to_thread(answers.fetch, "key") is None
