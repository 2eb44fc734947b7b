"""A roster: what each row does, in a browser and over REST, on each database."""

import contextlib
import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.teaching.courses.errors import RosterInvalid
from app.teaching.courses.roster_file import MOST_ROWS, read_roster
from tests.app.accounts.people import PASSWORD, browser, send_form
from tests.app.teaching.courses.test_courses import JSON, create, join, people

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def names_in(tess, course: dict) -> list[str]:
    book = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()
    return [each["name"] for each in book["students"]]


async def test_a_class_is_checked_imported_and_joins_by_its_links(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    page = f"/courses/{course['id']}/roster"
    text = "username;Name;Email;Group\r\nADA;;;1\r\nbob;Bob;;1\r\n;Grace Hopper;grace@example.org;2\r\n;;;\r\n"
    checked = await send_form(tess, page, page, csv=text, step="check")
    for words in ("The roster can be imported", "is already in the course", "joins the course", "gets an invitation"):
        assert words in checked.text
    assert await names_in(tess, course) == ["ada"]
    imported = await send_form(tess, page, page, csv=text, step="import")
    assert imported.headers["cache-control"] == "no-store"
    assert "1 new person has an invitation, 1 joined with their account, 1 already in the course" in imported.text
    assert await names_in(tess, course) == ["ada", "bob"]
    link = re.search(r"Grace Hopper\tgrace@example.org\t(\S+)", imported.text)[1].replace("&amp;", "&")

    async with browser(either) as grace:
        path = link[link.index("/sign-up") :]
        form = (await grace.get(path)).text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        created = await grace.post("/sign-up", data=hidden | {"name": "grace", "password": PASSWORD}, headers=JSON)
        assert (created.status_code, created.headers["location"]) == (303, f"/courses/{course['id']}")
    assert await names_in(tess, course) == ["ada", "bob", "grace"]
    again = await send_form(tess, page, page, csv="name,email\nX Y,\nX Y,x@example.org\n", step="download")
    rows = list(csv.reader(io.StringIO(again.text.removeprefix("\ufeff"))))
    assert rows[0] == ["name", "email", "link"]
    assert [each[:2] for each in rows[1:]] == [["X Y", ""], ["X Y", "x@example.org"]]
    twice = await send_form(tess, page, page, csv="name,email\nX Y,\n", step="import")
    assert "was invited before and has not signed up" in twice.text
    assert rows[1][2].replace("&", "&amp;") in twice.text


async def test_while_a_row_has_a_fault_nothing_is_imported(people):
    _, bob, tess = people
    course = await create(tess)
    path = f"/api/v1/courses/{course['id']}/roster"
    text = "username,name,email\nbob,,\n,Al,al at home\ntess,,\n,Al,,extra\nbob,,\n,,\n,A\x07,\n"
    answer = (await tess.post(path, json={"csv": text, "import": True}, headers=JSON)).json()
    assert answer["imported"] is False
    found = {each["row"]: (each["outcome"], each["detail"]) for each in answer["rows"]}
    assert found[2] == ("enrol", "The account is bob.")
    assert found[4] == ("skip", "tess has the role instructor. Instructors are added in the settings of the course.")
    for row, words in (
        (3, "'al at home' is not an email address"),
        (5, "It has 4 cells, but row 1 names 3"),
        (6, "Row 2 has the same username 'bob'"),
        (8, "name: it must be one line"),
    ):
        assert (found[row][0], words in found[row][1]) == ("fault", True), found[row]
    assert 7 not in found
    assert await names_in(tess, course) == []
    page = f"/courses/{course['id']}/roster"
    shown = await send_form(tess, page, page, csv=text, step="import")
    assert "4 rows have an error." in shown.text
    assert (await bob.post(path, json={"csv": text}, headers=JSON)).status_code == 403


async def test_somebody_who_was_deactivated_is_not_enrolled(either, people):
    tess = people[2]
    course = await create(tess)
    async with either.services[Database].writing() as session:
        session.add(UserRow(id="e" * 32, name="gone", role="student", created_at=now(), deactivated_at=now()))
    path = f"/api/v1/courses/{course['id']}/roster"
    answer = (await tess.post(path, json={"csv": "username\ngone\n"}, headers=JSON)).json()
    [row] = answer["rows"]
    assert (row["outcome"], "An owner can reactivate it" in row["detail"]) == ("skip", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Row 1 must name the columns"),
        ("Ada,ada@example.org\n", "Row 1 must name the columns"),
        ("name,name\nA,B\n", "names the column 'name' twice"),
        ("name\n\n", "The roster has no people"),
        ("name\n" + "".join(f"p{number}\n" for number in range(MOST_ROWS + 1)), "more than 1000 people"),
    ],
    ids=["nothing", "no columns", "a column twice", "nobody", "too many"],
)
def test_a_file_that_cannot_be_read_says_why(text, words):
    with pytest.raises(RosterInvalid, match=re.escape(words)):
        read_roster(text)


def test_a_quotation_mark_that_is_not_closed_is_a_fault_of_its_row():
    first, second = read_roster('name\nAda\n"Bob\n')
    assert (first.fault, second.number) == ("", 3)
    assert "quotation mark is not closed" in second.fault


# Without `codec`, for which Hypothesis would try to encode every character: surrogates are in C.
CELL = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@given(
    st.lists(CELL, min_size=1, max_size=20, unique=True),
    st.permutations(["username", "name", "email"]),
    st.sampled_from(",;\t"),
)
def test_what_a_spreadsheet_writes_is_read(names, columns, delimiter):
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter=delimiter)
    writer.writeheader()
    writer.writerows({"name": name, "email": f"p{number}@example.org"} for number, name in enumerate(names))
    rows = read_roster("\ufeff" + text.getvalue())
    assert [(each.number, each.name, each.fault) for each in rows] == [(n, name, "") for n, name in enumerate(names, 2)]


@given(st.text(max_size=300))
def test_any_text_is_rows_or_refused(text):
    with contextlib.suppress(RosterInvalid):
        assert all(each.fault or each.label for each in read_roster(text))
