"""Formatting over REST: ruff's defaults, in a process with limits, for anyone who may submit. Nothing is stored."""

import asyncio

import pytest

from app.core.bounded_calls import bounded
from app.core.errors import FormattingBusy, TooManyToFormat
from app.learning.workbench.formatting import FORMATTING, Formatter, run_ruff
from tests.app import calls
from tests.app.accounts.people import SITE, browser

pytestmark = pytest.mark.anyio
PATH = "/api/v1/format"


async def formatted(service, source: object):
    return await service.http.post(PATH, json={"source": source}, headers=service.bearer)


async def test_code_gets_the_style_of_ruff(service):
    response = await formatted(service, "def f( x ):\n  return {'a':x}\n\n\n\nf(1)")
    assert response.json() == {"source": 'def f(x):\n    return {"a": x}\n\n\nf(1)\n'}
    again = await formatted(service, response.json()["source"])
    assert again.json() == response.json()


@pytest.mark.parametrize(
    ("source", "status", "slug"),
    [
        ("x = 1\ny = (\n", 422, "source-not-formatted"),
        ("", 422, "source-empty"),
        ("\0", 422, "source-has-nul"),
        ("x = 1\n" * 20_000, 413, "source-too-large"),
        (7, 422, "field-invalid"),
    ],
)
async def test_what_is_not_python_is_refused(service, source: object, status: int, slug: str):
    refused = await formatted(service, source)
    assert (refused.status_code, refused.json()["slug"]) == (status, slug), refused.text


async def test_a_refusal_names_the_line(service):
    detail = (await formatted(service, "x = 1\ny = )\n")).json()["detail"]
    assert detail.startswith("Line 2: ")


async def test_deep_nesting_is_ended_or_formatted_in_time(service):
    nested = "(" * 5_000 + ")" * 5_000
    assert (await formatted(service, nested)).status_code in (200, 422)


async def test_nobody_is_refused_without_an_account_or_a_page(service):
    assert (await service.http.post(PATH, json={"source": "x = 1"})).status_code == 401


@pytest.fixture
def ruff(monkeypatch, tmp_path):
    """Another program instead of ruff: `ruff(lines)` writes it."""

    def write(lines: str) -> None:
        file = tmp_path / "ruff"
        file.write_text(f"#!/bin/sh\n{lines}\n")
        file.chmod(0o755)
        monkeypatch.setattr("app.learning.workbench.formatting.find_ruff_bin", lambda: str(file))

    return write


def test_a_source_that_takes_long_is_told_as_such_and_not_as_a_syntax_error(ruff):
    ruff("exec sleep 600")
    found = run_ruff("x = 1\n", 0.1)
    assert found == {
        "source": None,
        "fault": "Ruff takes longer than 0.1 s to format this source. "
        "To format it anyway, run ruff format on your machine.",
    }


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("kill -ABRT $$", "Ruff ended with SIGABRT at this source: it is nested too deeply, or needs too much memory."),
        ("kill -XCPU $$", "Ruff takes too much time to format this source. "),
        ("exit 2", "It is not Python that ruff can read."),
    ],
)
def test_the_end_of_ruff_is_told_as_it_was(ruff, lines, fault):
    ruff(lines)
    assert run_ruff("x = 1\n", 60.0)["fault"].startswith(fault)


class Held:
    """Instead of the process: formats nothing until `go`."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.held: list[str] = []

    async def call(self, function, source, wall_s, *, cpu_s):
        self.held.append(source)
        await self.go.wait()
        return {"source": source, "fault": None}


@pytest.fixture
def held(monkeypatch) -> Held:
    held = Held()
    monkeypatch.setattr("app.learning.workbench.formatting.FORMATTING", held)
    return held


async def _until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def test_each_asker_waits_for_one_source(held):
    formatter = Formatter()
    first = asyncio.create_task(formatter.format("a = 1\n", 100, "address 192.0.2.1"))
    other = asyncio.create_task(formatter.format("b = 1\n", 100, "address 192.0.2.2"))
    await _until(lambda: len(held.held) == 2)
    with pytest.raises(TooManyToFormat, match=r"is being formatted\. Try again in 2 s") as refused:
        await formatter.format("c = 1\n", 100, "address 192.0.2.1")
    assert refused.value.headers == {"Retry-After": "2"}
    held.go.set()
    assert [await first, await other] == ["a = 1\n", "b = 1\n"]
    assert await formatter.format("c = 1\n", 100, "address 192.0.2.1") == "c = 1\n"


async def test_the_line_is_short(held):
    formatter = Formatter()
    waiting = [asyncio.create_task(formatter.format("a = 1\n", 100, str(number))) for number in range(10)]
    await _until(lambda: len(held.held) == 10)
    with pytest.raises(FormattingBusy, match="run ruff format on your machine") as refused:
        await formatter.format("c = 1\n", 100, "one more")
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "2"})
    held.go.set()
    await asyncio.gather(*waiting)


async def test_guests_at_one_address_share_a_place_and_accounts_have_their_own(held, start_service):
    async with start_service() as service, browser(service) as ada, browser(service) as bob:
        for each in (ada, bob):
            await each.get("/explore")
        first = asyncio.create_task(ada.post(PATH, json={"source": "a = 1\n"}, headers=SITE))
        await _until(lambda: len(held.held) == 1)
        refused = await bob.post(PATH, json={"source": "b = 1\n"}, headers=SITE)
        assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-to-format")
        own = asyncio.create_task(formatted(service, "c = 1\n"))
        await _until(lambda: len(held.held) == 2)
        held.go.set()
        assert [(await each).status_code for each in (first, own)] == [200, 200]


async def test_texts_are_rendered_while_something_is_formatted(tmp_path):
    """They have other processes, so formatting delays no page and no upload."""
    end = tmp_path / "end"
    formatting = asyncio.create_task(FORMATTING.call(calls.wait_for_file, str(end), cpu_s=60))
    rendered = await asyncio.gather(*(bounded(calls.matches, "a", "a", cpu_s=60) for _ in range(3)))
    assert rendered == [True] * 3
    assert not formatting.done()
    end.touch()
    assert await formatting is True
