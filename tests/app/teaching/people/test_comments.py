"""Instructors comment on lines of what students sent. The student reads it beside the source, and resolves it."""

import html
import json
import re

import pytest

from app.grading.attempts.source_colours import colour_lines
from app.grading.comments.service import LONGEST, Comments, lines_of
from tests.app.accounts.people import SITE, browser, form_token, sign_in, sign_up

pytestmark = pytest.mark.anyio
SOURCE = '"""Adds\n\none."""\ndef add_one(x):\n    return x\n'


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


@pytest.fixture
async def attempt(people) -> tuple[str, str]:
    """Ada's id, and that of an attempt of hers."""
    sent = await people["ada"].post("/api/v1/problems/add_one/attempts?wait=60", json={"source": SOURCE}, headers=SITE)
    return (await people["ada"].get("/api/v1/me")).json()["id"], sent.json()["id"]


def theirs(attempt: tuple[str, str], rest: str = "") -> str:
    return "/api/v1/people/{}/attempts/{}/comments".format(*attempt) + rest


async def post(http, page: str, path: str, **fields):
    token = form_token((await http.get(page)).text)
    return await http.post(path, data=fields | {"form_token": token}, headers=SITE | {"Accept": "text/html"})


async def test_a_comment_is_read_beside_its_line_and_resolved(people, attempt):
    ada, tess = people["ada"], people["tess"]
    page = "/people/{}/attempts/{}".format(*attempt)
    assert 'value="5"' in (await tess.get(f"{page}?line=5")).text
    added = await post(tess, page, f"{page}/comments", line="5", text="Add <b>one</b>\nhere.")
    assert (added.status_code, added.headers["location"][: len(page) + 9]) == (303, f"{page}#comment-")

    history = (await ada.get("/attempts")).text
    assert "1 new comment<" in history
    assert f'<a href="/attempts/{attempt[1]}">Add one' in history
    assert "1 new comment<" in (await ada.get("/problems/add_one/previous")).text
    shown = (await ada.get(f"/attempts/{attempt[1]}")).text
    assert "Add &lt;b&gt;one&lt;/b&gt;\nhere." in shown
    assert 'aria-label="Comment 1 on line 5"' in shown
    assert "1 unresolved" in shown
    assert '<span class="tag is-new">new</span>' in shown
    # From now on it is no longer new.
    assert "new comment" not in (await ada.get("/attempts")).text
    assert "1 comment<" in (await ada.get("/attempts")).text
    assert "1 comment<" in (await tess.get(f"/people/{attempt[0]}/attempts")).text

    [comment] = (await ada.get(f"/api/v1/attempts/{attempt[1]}/comments")).json()["comments"]
    assert (comment["line"], comment["author"], comment["resolved_at"]) == (5, "tess", None)
    done = await post(ada, "/account", f"/attempts/{attempt[1]}/comments/{comment['id']}/resolve", resolved="yes")
    assert done.headers["location"] == f"/attempts/{attempt[1]}#comment-{comment['id']}"
    [read] = (await tess.get(theirs(attempt))).json()["comments"]
    assert read["resolved_at"] is not None
    assert '<span class="tag">resolved</span>' in (await tess.get(page)).text
    path = f"/api/v1/attempts/{attempt[1]}/comments/{comment['id']}"
    again = await ada.put(path, json={"resolved": True}, headers=SITE)
    assert again.json()["resolved_at"] == read["resolved_at"]
    assert (await ada.put(path, json={"resolved": False}, headers=SITE)).json()["resolved_at"] is None


async def test_who_comments_and_who_reads_it(people, attempt):
    new = {"line": 1, "text": "Good."}
    for name, status in (("ada", 403), ("bob", 403), ("tom", 201), ("tess", 201), ("owner", 201)):
        assert (await people[name].post(theirs(attempt), json=new, headers=SITE)).status_code == status, name
        expected = 200 if status == 201 else 403
        assert (await people[name].get(theirs(attempt))).status_code == expected, name
    for name in ("bob", "tess"):
        answer = await people[name].get(f"/api/v1/attempts/{attempt[1]}/comments")
        assert (answer.status_code, answer.json()["slug"]) == (404, "attempt-not-found")
    toms = next(
        each for each in (await people["tess"].get(theirs(attempt))).json()["comments"] if each["author"] == "tom"
    )
    for name in ("bob", "tess"):
        path = f"/api/v1/attempts/{attempt[1]}/comments/{toms['id']}"
        assert (await people[name].put(path, json={"resolved": True}, headers=SITE)).status_code == 404
    refused = await people["tess"].delete(theirs(attempt, f"/{toms['id']}"), headers=SITE)
    assert (refused.status_code, refused.json()["slug"]) == (403, "role-missing")
    page = "/people/{}/attempts/{}".format(*attempt)
    assert (await people["tess"].get(page)).text.count("/remove") == 1
    removed = await post(people["tom"], page, f"{page}/comments/{toms['id']}/remove")
    assert removed.headers["location"] == f"{page}#sent"
    answer = await people["owner"].delete(theirs(attempt, f"/{toms['id']}"), headers=SITE)
    assert (answer.status_code, answer.json()["slug"]) == (404, "comment-not-found")


async def test_the_audit_log_has_it(people, attempt):
    added = (await people["tess"].post(theirs(attempt), json={"line": 2, "text": "x"}, headers=SITE)).json()
    await people["owner"].delete(theirs(attempt, f"/{added['id']}"), headers=SITE)
    entries = (await people["owner"].get("/api/v1/audit?limit=2")).json()["entries"]
    detail = f"line 2 of attempt {attempt[1]}"
    assert [(each["action"], each["actor"]["name"], each["whom"]["name"], each["detail"]) for each in entries] == [
        ("comment-removed", "owner", "ada", detail),
        ("comment-added", "tess", "ada", detail),
    ]


@pytest.mark.parametrize(
    ("line", "text", "says"),
    [
        (1, " \n ", "text: must be a text of 1 to 2000 characters."),
        (1, "a\u202eb", "text: remove control characters, and those that change the direction of text."),
    ],
    ids=["empty", "direction"],
)
async def test_what_is_wrong_with_a_comment(people, attempt, line, text, says):
    answer = await people["tess"].post(theirs(attempt), json={"line": line, "text": text}, headers=SITE)
    assert (answer.status_code, answer.json()["detail"]) == (422, says)


async def test_there_is_no_comment_on_a_line_that_the_source_does_not_have(people, attempt):
    answer = await people["tess"].post(theirs(attempt), json={"line": 6, "text": "x"}, headers=SITE)
    assert (answer.status_code, answer.json()["slug"]) == (404, "line-not-found")
    assert answer.json()["detail"] == "The source has the lines 1 to 5, and no line 6."


async def test_a_refused_form_keeps_what_was_typed(people, attempt):
    page = "/people/{}/attempts/{}".format(*attempt)
    answer = await post(people["tess"], page, f"{page}/comments", line="soon", text="Keep me.")
    assert answer.status_code == 422
    assert "line: must be a whole number" in answer.text
    assert "Keep me." in answer.text
    long = await post(people["tess"], page, f"{page}/comments", line="1", text="x" * (LONGEST + 1))
    assert "text: must have at most 2,000 characters" in long.text


async def test_an_attempt_has_a_hundred_at_most(people, attempt, monkeypatch):
    monkeypatch.setattr("app.grading.comments.service._MOST", 1)
    new = {"line": 1, "text": "x"}
    assert (await people["tess"].post(theirs(attempt), json=new, headers=SITE)).status_code == 201
    answer = await people["tess"].post(theirs(attempt), json=new, headers=SITE)
    assert (answer.status_code, answer.json()["slug"]) == (409, "too-many-comments")


async def test_it_is_exported_with_both_and_stays_when_its_author_is_deleted(either, people, attempt):
    await people["tess"].post(theirs(attempt), json={"line": 4, "text": "KEEP-ME"}, headers=SITE)
    for name in ("ada", "tess"):
        exported = json.loads((await people[name].get("/api/v1/me/export")).text)
        assert [each["text"] for each in exported["comments"]] == ["KEEP-ME"], name
    gone = await people["tess"].delete("/api/v1/me?name=tess", headers=SITE)
    assert gone.status_code == 204, gone.text
    [comment] = (await people["ada"].get(f"/api/v1/attempts/{attempt[1]}/comments")).json()["comments"]
    assert comment["author"] is None
    assert "Someone whose account was deleted" in (await people["ada"].get(f"/attempts/{attempt[1]}")).text
    await people["ada"].delete("/api/v1/me?name=ada", headers=SITE)
    assert await either.services[Comments].of_attempt(attempt[1]) == []


@pytest.mark.parametrize(
    "source",
    [SOURCE, "x", "", "\n\n", "a\r\nb\rc\x0b\n", 's = """\n\n"""\n\n\n', "é\u2028\x85\u202e\x0c\n" * 3, "y\n" * 20_000],
)
async def test_a_page_numbers_the_lines_that_a_comment_names(source):
    lines = await colour_lines(source)
    assert len(lines) == len(lines_of(source))
    for each in lines:
        assert each.count("<span") == each.count("</span>")
    if source == SOURCE:
        assert [html.unescape(re.sub("<.*?>", "", each)) for each in lines] == lines_of(SOURCE)
