"""The list of attempts: filters in its address, further pages of filtered attempts, and a comparison of two."""

import re
from html import unescape

import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import browser, sign_in, sign_up

pytestmark = pytest.mark.anyio
GOOD = "def add_one(x): return x + 1  # REFERENCE-SECRET\n"


async def send(service, source: str, kind: str = "attempts", **more: object) -> str:
    answer = await service.http.post(
        f"/api/v1/problems/add_one/{kind}?wait=60", json={"source": source}, headers=service.bearer
    )
    attempt_id: str = answer.json()["id"]
    if more:
        async with service.services[Database].writing() as session:
            row = await session.get_one(AttemptRow, attempt_id)
            for name, value in more.items():
                setattr(row, name, value)
    return attempt_id


async def show(service, address: str) -> str:
    answer = await service.http.get(address, headers=service.bearer | {"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return answer.text


def listed(page: str) -> list[str]:
    return re.findall(r'<td><a href="/attempts/([0-9a-f]{32})"', page)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["run", "cancelled", "wrong", "good"]),
        ("?kind=run", ["run"]),
        ("?kind=attempt", ["cancelled", "wrong", "good"]),
        ("?status=accepted&kind=attempt", ["good"]),
        ("?status=rejected", ["wrong"]),
        ("?status=cancelled", ["cancelled"]),
        ("?status=waiting", []),
        ("?reason=wrong_shape", ["wrong"]),
        ("?reason=wrong_shape&status=accepted", []),
        ("?problem=add_one", ["run", "cancelled", "wrong", "good"]),
        ("?problem=no_such", []),
        ("?problem=%00%27&status=%3Cb%3E", []),
        ("?status=%3Cb%3E&kind=x&reason=y", ["run", "cancelled", "wrong", "good"]),
    ],
)
async def test_the_address_says_what_the_list_shows(either, query, expected):
    made = {
        "good": await send(either, GOOD, verdict_status="accepted"),
        "wrong": await send(either, "x", verdict_status="rejected", verdict_reason="wrong_shape"),
        "cancelled": await send(either, "y", status="cancelled", verdict_status=None, verdict_reason=None),
        "run": await send(either, GOOD, "runs", verdict_status="accepted"),
    }
    page = await show(either, f"/attempts{query}")
    assert listed(page) == [made[name] for name in expected]
    assert ("Wrong shape</span>" in page) is ("wrong" in expected)
    assert "<b>" not in page


async def test_a_row_names_the_problem_and_the_reason_in_words(service):
    await send(service, "x")
    page = await show(service, "/attempts")
    assert '<a href="/problems/add_one">Add one</a>' in page
    assert re.search(r'<time datetime="[^"]+" title="[^"]+ UTC">just now</time>', page)


async def test_further_pages_keep_the_filter_and_neither_repeat_nor_skip(service, monkeypatch):
    monkeypatch.setattr("app.grading.attempts.pages._PAGE", 2)
    made = [await send(service, f"x{number}", "runs" if number % 2 else "attempts") for number in range(7)]
    found, address = [], "/attempts?kind=attempt"
    while address:
        page = await show(service, address)
        found += listed(page)
        older = re.search(r'<a href="(/attempts\?[^"]+)">Older attempts', page)
        address = unescape(older[1]) if older else ""
        assert not older or "kind=attempt" in address
    assert found == made[::-2]


async def test_two_attempts_at_one_problem_are_compared_from_the_older_one(either):
    old, new = await send(either, "a = 1\nb = '<i>'\n"), await send(either, "a = 1\nb = '<script>'\n")
    choose = await show(either, "/attempts?problem=add_one")
    assert re.findall(r'name="(.)" value="(\w+)"[^>]*checked', choose) == [("b", new), ("a", old)]
    pages = [await show(either, f"/attempts/compare?a={a}&b={b}") for a, b in ((old, new), (new, old))]
    shown = [re.sub(r"<header.*?</header>|form_token\W+value=\W\w+", "", page, flags=re.DOTALL) for page in pages]
    assert shown[0] == shown[1]
    assert pages[0].index('<h2 id="compared-measured">') < pages[0].index("<h2>The text</h2>")
    assert " removed: </span>b = &#39;&lt;i&gt;&#39;</code>" in pages[0]
    assert " added: </span>b = &#39;&lt;script&gt;&#39;</code>" in pages[0]
    assert f'<a href="/attempts/compare?a={old}&amp;b={new}">' in await show(either, f"/attempts/{new}")


async def test_what_cannot_be_compared_is_said(service):
    one, two = await send(service, "a"), await send(service, "b", problem="other_problem")
    for query, status, words in (
        (f"a={one}&b={one}", 422, "A and B are the same attempt"),
        (f"a={one}&b={two}", 422, "choose two at the same problem"),
        (f"a={one}", 404, "You have no attempt with the id"),
        ("", 404, "You have no attempt with the id"),
    ):
        answer = await service.http.get(f"/attempts/compare?{query}", headers=service.bearer)
        assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text


async def test_nobody_else_compares_them(service):
    await sign_in(service)
    one, two = await send(service, "SECRET-ONE"), await send(service, "SECRET-TWO")
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        answer = await http.get(f"/attempts/compare?a={one}&b={two}")
    assert answer.status_code == 404
    assert "SECRET" not in answer.text
