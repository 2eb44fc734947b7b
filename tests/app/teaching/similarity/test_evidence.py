"""What a report says beside the share: which attempts are compared, when each was sent, and what came before it."""

import csv
import io

import pytest
from sqlalchemy import update

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import SITE, browser, sign_in, sign_up
from tests.app.teaching.people.test_attempts_of_others import GOOD, send
from tests.app.teaching.similarity.labelled import SOLUTIONS

pytestmark = pytest.mark.anyio
PATH = "/problems/add_one/similarity"
WRONG = "def add_one(x): return x + 2\n"
FIRST, SECOND = SOLUTIONS[:2]


async def report(http, **query: str) -> dict:
    answer = await http.get(f"/api/v1{PATH}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def send_as(service, http, source: str, code: str = GOOD) -> None:
    """Send `code`, and store `source` as what was sent: solutions of another exercise are long enough to compare."""
    attempt_id = await send(service, http, code)
    async with service.services[Database].writing() as session:
        await session.execute(update(AttemptRow).where(AttemptRow.id == attempt_id).values(source=source))


def sides(pair: dict) -> dict[str, tuple[int, int, bool]]:
    return {
        each["user"]["name"]: (each["earlier"], each["saves"], each["accepted"])
        for each in pair.values()
        if isinstance(each, dict)
    }


@pytest.fixture
async def copied(either):
    """ada saves drafts and tries twice. bob and eve send copies: of her second attempt, and of her wrong one."""
    await sign_in(either)
    async with browser(either) as ada, browser(either) as bob, browser(either) as eve, browser(either) as tess:
        for name, http in (("ada", ada), ("bob", bob), ("eve", eve)):
            await sign_up(either, http, name)
        await sign_up(either, tess, "tess", "instructor")
        for revision, text in enumerate(("def", GOOD, WRONG)):
            body = {"source": text, "revision": revision}
            assert (await ada.put("/api/v1/problems/add_one/draft", json=body, headers=SITE)).status_code == 200
        await send_as(either, ada, SECOND, WRONG)
        await send_as(either, ada, FIRST)
        await send_as(either, bob, FIRST.replace("losses", "history"))
        await send_as(either, eve, SECOND, WRONG)
        yield tess


async def test_accepted_attempts_are_compared_unless_all_are_asked_for(copied):
    for attempts in ("best", "last"):
        best = await report(copied, attempts=attempts)
        assert best["people"] == 2
        [pair] = best["pairs"]
        assert sides(pair) == {"ada": (1, 3, True), "bob": (0, 0, True)}
        assert pair["one"]["sent_at"] < pair["other"]["sent_at"]
        assert pair["weight"] > 10
    every = await report(copied, attempts="all")
    assert every["people"] == 3
    found = [sides(each) for each in every["pairs"]]
    assert {"ada": (1, 3, True), "bob": (0, 0, True)} in found
    assert {"ada": (0, 3, False), "eve": (0, 0, False)} in found
    assert (await copied.get(f"/api/v1{PATH}", params={"attempts": "none"})).status_code == 422


async def test_the_page_says_when_each_was_sent_and_what_came_before(copied):
    page = (await copied.get(PATH)).text
    assert "1 earlier try, draft saved 3 times" in page
    assert "no earlier try, no draft" in page
    assert "Compared: best accepted attempt of each student." in page
    every = (await copied.get(PATH, params={"attempts": "all"})).text
    assert "?attempts=all" in every
    assert "ada and eve" in every


async def test_the_report_is_a_file_on_the_page_and_over_rest(copied):
    page = (await copied.get(PATH, params={"attempts": "all", "q": "eve"})).text
    assert f'href="{PATH}.csv?attempts=all&amp;q=eve" download' in page
    on_page = await copied.get(f"{PATH}.csv", params={"attempts": "all", "q": "eve"})
    over_rest = await copied.get(f"/api/v1{PATH}.csv")
    for answer, other in ((on_page, "eve"), (over_rest, "bob")):
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.headers["content-disposition"] == 'attachment; filename="similarity-add_one.csv"'
        [row] = csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff")))
        assert {row["student 1"], row["student 2"]} == {"ada", other}
        assert row["minutes apart"] == "0"
        assert float(row["share"]) > 0.5


async def test_of_equal_shares_one_that_came_whole_is_first(either):
    """ann and ben tried before; dan and eli sent theirs at once. Both pairs are identical."""
    await sign_in(either)
    async with browser(either) as tess:
        await sign_up(either, tess, "tess", "instructor")
        for name, source, tries in (("dan", SECOND, 1), ("eli", SECOND, 1), ("ann", FIRST, 3), ("ben", FIRST, 3)):
            async with browser(either) as http:
                await sign_up(either, http, name)
                for _ in range(tries):
                    await send_as(either, http, source)
        pairs = (await report(tess, attempts="last"))["pairs"]
    assert [{pair["one"]["user"]["name"], pair["other"]["user"]["name"]} for pair in pairs] == [
        {"dan", "eli"},
        {"ann", "ben"},
    ]
