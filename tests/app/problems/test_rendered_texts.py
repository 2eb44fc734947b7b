"""The texts of a package are formatted once, by another process, and stored; what takes too long stays as written."""

import asyncio

import pytest
from sqlalchemy import func, select

from app.core.bounded_calls import LimitExceeded, bounded
from app.core.database import Database
from app.problems import rendered_texts as module
from app.problems.models import RenderedRow
from app.problems.rendered_texts import RenderedTexts
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio
TEXTS = {"s": "# One\n\n![f](figures/f.svg) and *add_one*", "hint-1": "$x$"}


@pytest.fixture
async def calls(either, monkeypatch):
    """How often each text was formatted."""
    # The service formats the texts of its own problem when it gets round to it, so let that be done.
    assert (await either.http.get("/problems/add_one", headers={"Accept": "text/html"})).status_code == 200
    made = []

    async def counted(function, texts, *, cpu_s):
        made.append(list(texts.values()))
        if any("TOO MUCH" in text for text in texts.values()):
            raise LimitExceeded(f"takes over {cpu_s} s of CPU time")
        return await bounded(function, texts, cpu_s=cpu_s)

    monkeypatch.setattr(module, "bounded", counted)
    return made


async def stored(database: Database) -> int:
    async with database.reading() as session:
        return await session.scalar(select(func.count()).select_from(RenderedRow)) or 0


async def test_texts_are_formatted_once_for_all_pages_and_processes(either, calls):
    database = either.services[Database]
    before = await stored(database)
    first = RenderedTexts(database)
    [statement, hint] = await first.show(TEXTS, "/a", {"add_one": "Add <one>"})
    assert 'src="/a/f.svg"' in statement.html
    assert '<a href="/problems/add_one" rel="noopener noreferrer">Add &lt;one&gt;</a>' in statement.html
    assert [each.anchor for each in statement.headings] == ["s-one"]
    assert "<math" in hint.html
    [again, _] = await RenderedTexts(database).show(TEXTS, "/b", {})
    assert 'src="/b/f.svg"' in again.html
    assert "<em>add_one</em>" in again.html
    assert calls == [list(TEXTS.values())]
    assert await stored(database) == before + 1


async def test_many_readers_wait_for_one_call(either, calls):
    texts = RenderedTexts(either.services[Database])
    shown = await asyncio.gather(*(texts.show({"s": "# Two"}, "", {}) for _ in range(10)))
    assert len({prose.html for [prose] in shown}) == 1
    assert len(calls) == 1


async def test_what_takes_too_long_is_shown_as_written_and_not_tried_again(either, calls):
    texts = {"s": "TOO MUCH <b>"}
    for rendered in (RenderedTexts(either.services[Database]), RenderedTexts(either.services[Database])):
        [prose] = await rendered.show(texts, "", {})
        assert "takes too long to format" in prose.html
        assert "TOO MUCH &lt;b&gt;" in prose.html
    assert len(calls) == 1


async def test_an_upload_that_takes_too_long_to_format_is_refused(either, calls):
    answer = await upload(either, FILES | {"editorial.md": "TOO MUCH"})
    assert (answer.status_code, answer.json()["slug"]) == (422, "package-invalid")
    assert answer.json()["faults"] == [
        "editorial.md takes over 5 s of CPU time when it is shown as a page. "
        "Shorten it, and remove repeated marks such as [, * and $"
    ]


async def test_what_another_version_of_the_service_formatted_is_forgotten(either, calls, monkeypatch):
    texts = RenderedTexts(either.services[Database])
    await texts.show(TEXTS, "", {})
    monkeypatch.setattr(module, "renderer", lambda: "another")
    await texts.forget_older()
    assert await stored(either.services[Database]) == 0
