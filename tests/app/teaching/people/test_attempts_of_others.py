"""Instructors read what students sent, owners what everybody sent, and students nothing of anybody else's."""

import re
from datetime import timedelta
from html import unescape

import pytest

from app.accounts.service import Accounts
from app.core.database import Database
from app.core.rest.paging import Cursor, Page
from app.grading.queue.models import AttemptRow
from app.teaching.identities.identity import RosterIdentities
from app.teaching.people.at_problem import who_tried
from tests.app.accounts.people import SITE, browser, sign_in, sign_up

pytestmark = pytest.mark.anyio
GOOD = "def add_one(x): return x + 1  # REFERENCE-SECRET\n"
PAGE = {"Accept": "text/html"}


async def send(service, http, source: str, kind: str = "attempts") -> str:
    answer = await http.post(f"/api/v1/problems/add_one/{kind}?wait=60", json={"source": source}, headers=SITE)
    assert answer.status_code == 200, answer.text
    attempt_id: str = answer.json()["id"]
    return attempt_id


async def me(http) -> str:
    person_id: str = (await http.get("/api/v1/me")).json()["id"]
    return person_id


@pytest.fixture
async def people(either):
    """Their browsers by name: two students, two instructors, and the owner."""
    await sign_in(either)
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess, browser(either) as tom:
        for name, http in (("ada", ada), ("bob", bob)):
            await sign_up(either, http, name)
        for name, http in (("tess", tess), ("tom", tom)):
            await sign_up(either, http, name, "instructor")
        yield {"ada": ada, "bob": bob, "tess": tess, "tom": tom, "owner": either.http}


async def test_who_reads_what(either, people):
    sent = {name: (await me(http), await send(either, http, f"# OF-{name}\n")) for name, http in people.items()}
    may = {
        "ada": set(),
        "bob": set(),
        "tess": {"ada", "bob"},
        "tom": {"ada", "bob"},
        "owner": {"ada", "bob", "tess", "tom", "owner"},
    }
    for reader, http in people.items():
        for name, (person_id, attempt_id) in sent.items():
            expected = 200 if name in may[reader] else 403
            for path in (
                f"/people/{person_id}/attempts",
                f"/people/{person_id}/attempts/{attempt_id}",
                f"/people/{person_id}/problems/add_one",
                f"/api/v1/people/{person_id}/attempts",
                f"/api/v1/people/{person_id}/attempts/{attempt_id}",
            ):
                answer = await http.get(path, headers=PAGE)
                assert answer.status_code == expected, (reader, path)
                if expected == 403:
                    assert f"OF-{name}" not in answer.text
        # Only their own list.
        assert (await http.get(f"/attempts/{sent[reader][1]}", headers=PAGE)).status_code == 200
        other = sent["bob" if reader != "bob" else "ada"][1]
        assert (await http.get(f"/attempts/{other}", headers=PAGE)).status_code == 404


async def test_an_attempt_is_read_only_and_belongs_to_its_person(either, people):
    ada, bob, tess = await me(people["ada"]), await me(people["bob"]), people["tess"]
    attempt = await send(either, people["ada"], "x = '<b>'\n")
    page = (await tess.get(f"/people/{ada}/attempts/{attempt}")).text
    assert "<h1>Attempt of ada at Add one</h1>" in page
    assert "&lt;b&gt;" in page
    for action in ("/cancel", "/share", "/restore"):
        assert action not in page
    stored = (await tess.get(f"/api/v1/people/{ada}/attempts/{attempt}")).json()
    assert (stored["source"], stored["verdict"]["status"]) == ("x = '<b>'\n", "rejected")
    for path in (f"{bob}/attempts/{attempt}", f"{ada}/attempts/a%00b", f"{'0' * 32}/attempts/{attempt}"):
        assert (await tess.get(f"/api/v1/people/{path}")).status_code == 404
    missing = await tess.get(f"/api/v1/people/{bob}/attempts/{attempt}")
    assert "bob has no attempt with the id" in missing.json()["detail"]


async def test_the_list_is_filtered_and_has_pages(either, people, monkeypatch):
    monkeypatch.setattr("app.teaching.people.attempt_pages._PAGE", 2)
    ada, tess = await me(people["ada"]), people["tess"]
    ids = [await send(either, people["ada"], f"x{n}", "runs" if n % 2 else "attempts") for n in range(5)]
    found, address = [], f"/people/{ada}/attempts?kind=attempt"
    while address:
        page = (await tess.get(address)).text
        found += re.findall(rf'<td><a href="/people/{ada}/attempts/(\w+)"', page)
        older = re.search(r'<a href="([^"]+)">Older attempts', page)
        address = unescape(older[1]) if older else ""
    assert found == ids[::-2]
    rest = (await tess.get(f"/api/v1/people/{ada}/attempts?problem=add_one&limit=4")).json()
    assert ([each["id"] for each in rest["attempts"]], rest["next"]) == (ids[:0:-1], ids[1])
    assert "No attempt matches" in (await tess.get(f"/people/{ada}/attempts?status=accepted")).text


async def test_the_story_shows_what_changed_from_one_to_the_next(either, people, monkeypatch):
    ada, tess = await me(people["ada"]), people["tess"]
    ids = [await send(either, people["ada"], source) for source in ("a = 1\n", "a = 2\n", "a = 2\n", GOOD)]
    await send(either, people["bob"], "SECRET-OF-BOB")
    async with either.services[Database].writing() as session:
        first = await session.get_one(AttemptRow, ids[0])
        first.created_at -= timedelta(hours=3)
    page = (await tess.get(f"/people/{ada}/problems/add_one")).text
    assert re.findall(r'id="step-(\w+)"', page) == ids
    assert " removed: </span>a = 1" in page
    assert " added: </span>a = 2" in page
    assert "No differences." in page
    assert "3 h after the previous one" in page
    assert "SECRET-OF-BOB" not in page

    monkeypatch.setattr("app.teaching.people.attempt_pages._STEPS", 3)
    begin = (await tess.get(f"/people/{ada}/problems/add_one")).text
    further = unescape(re.search(r'<a href="([^"]+)">Later attempts', begin)[1])
    rest = (await tess.get(further)).text
    assert re.findall(r'id="step-(\w+)"', rest) == ids[3:]
    assert " removed: </span>a = 2" in rest  # compared with the last one of the page before
    assert (await tess.get(f"/people/{ada}/problems/add_one?after=x")).status_code == 404
    assert "has not run or submitted anything here" in (await tess.get(f"/people/{ada}/problems/no_such")).text


async def test_who_has_tried_a_problem(either, people):
    await send(either, people["ada"], "x")
    await send(either, people["ada"], GOOD)
    await send(either, people["bob"], GOOD, "runs")
    await send(either, people["tom"], GOOD)
    page = (await people["tess"].get("/problems/add_one/people")).text
    assert re.findall(r'problems/add_one">(\w+)</a>', page) == ["ada", "bob"]
    rows = (await people["tess"].get("/api/v1/problems/add_one/people")).json()["people"]
    assert [(each["name"], each["sent"], each["best_score"], each["accepted"]) for each in rows] == [
        ("ada", 2, 100, True),
        ("bob", 1, None, False),
    ]
    all_of_them = (await people["owner"].get("/api/v1/problems/add_one/people?limit=2")).json()
    assert ([each["name"] for each in all_of_them["people"]], all_of_them["next"]) == (["ada", "bob"], "bob")
    rest = (await people["owner"].get("/api/v1/problems/add_one/people?limit=2&after=bob")).json()
    assert ([each["name"] for each in rest["people"]], rest["next"]) == (["tom"], None)
    owner = await either.services[Accounts].ensure_owner()
    services = either.services[Database], either.services[RosterIdentities]
    assert await who_tried(*services, owner, "no_such", Cursor(10)) == Page([])
    assert (await people["ada"].get("/problems/add_one/people")).status_code == 403


async def test_the_account_says_who_reads_what(people):
    for name, words in (
        ("ada", "Instructors and owners of this site can read"),
        ("tess", "Owners of this site can read"),
    ):
        assert words in (await people[name].get("/account")).text
