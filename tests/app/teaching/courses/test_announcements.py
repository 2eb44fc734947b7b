"""Announcements: instructors write them, the members of the course read them, and the audit log has both."""

import pytest

from tests.app.accounts.people import send_form
from tests.app.teaching.courses.test_courses import JSON, changes_in, create, join, people

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def test_members_see_what_an_instructor_announced(either, people):
    ada, bob, tess = people
    course = await create(tess)
    await join(ada, course)
    page = f"/courses/{course['id']}"
    text = "The exam moves.\r\n<b>Read</b> this."
    assert (await send_form(tess, page, f"{page}/announcements", text=text)).status_code == 303
    seen = (await ada.get(page)).text
    for words in ("The exam moves.\n&lt;b&gt;Read&lt;/b&gt; this.", "tess, <time"):
        assert words in seen
    assert "New announcement" not in seen
    assert (await bob.get(f"/api/v1{page}/announcements")).status_code == 404
    [stored] = (await ada.get(f"/api/v1{page}/announcements")).json()["announcements"]
    assert (stored["text"], stored["author"]) == ("The exam moves.\n<b>Read</b> this.", "tess")
    refused = await ada.post(f"/api/v1{page}/announcements", json={"text": "x"}, headers=JSON)
    assert refused.status_code == 403
    mine = (await tess.get("/api/v1/me/export")).json()["announcements"]
    assert [each["text"] for each in mine] == [stored["text"]]
    removal = f"{page}/announcements/{stored['id']}/remove"
    assert (await send_form(tess, page, removal)).status_code == 303
    assert "The exam moves" not in (await ada.get(page)).text
    entries = await changes_in(either)
    assert [(each.action, each.detail) for each in entries] == [
        ("announcement-removed", "JAX: The exam moves. <b>Read</b> this."),
        ("announced", "JAX: The exam moves. <b>Read</b> this."),
    ]


async def test_an_announcement_outlives_its_author(people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    path = f"/api/v1/courses/{course['id']}/announcements"
    assert (await tess.post(path, json={"text": "stays"}, headers=JSON)).status_code == 201
    assert (await tess.delete("/api/v1/me?name=tess", headers=JSON)).status_code == 204
    [stored] = (await ada.get(path)).json()["announcements"]
    assert (stored["text"], stored["author"]) == ("stays", None)


async def test_what_is_no_plain_text_is_refused(people):
    tess = people[2]
    course = await create(tess)
    page = f"/courses/{course['id']}"
    for wrong in ("", " \n ", "a\x07b", "a\u202eb", "a" * 5001):
        answer = await tess.post(f"/api/v1{page}/announcements", json={"text": wrong}, headers=JSON)
        assert (answer.status_code, answer.json()["slug"]) == (422, "field-invalid"), wrong[:9]
    typed = await send_form(tess, page, f"{page}/announcements", text="a\x07b")
    assert (typed.status_code, "write 1 to 5000 characters" in typed.text) == (422, True)
    gone = await tess.delete(f"/api/v1{page}/announcements/{'0' * 32}", headers=JSON)
    assert gone.json()["slug"] == "announcement-not-found"
