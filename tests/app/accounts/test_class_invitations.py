"""Names that are pasted become invitations of students: all of them, or none with the reason."""

import re
from html import unescape

import pytest

from tests.app.accounts.people import SITE, browser, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
PAGE, FORM = "/account/invitations", "/account/invitations/class"
API = "/api/v1/batch/invitations"


async def test_each_link_makes_one_student(either):
    await sign_in(either)
    names = "Ada <Lovelace>\r\n\r\n  Grace, second row \n"
    page = await send_form(either.http, PAGE, FORM, notes=names, expires_in_days="30")
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    text = unescape(re.search(r'<textarea id="secret"[^>]*>(.*?)</textarea>', page.text, re.DOTALL)[1])
    lines = [line.split("\t") for line in text.splitlines()]
    assert [name for name, _ in lines] == ["Ada <Lovelace>", "Grace, second row"]
    for (_, link), name in zip(lines, ("ada", "grace"), strict=True):
        async with browser(either) as http:
            invitation = link.partition("invitation=")[2]
            fields = {"name": name, "password": "four quiet grey geese", "invitation": invitation}
            assert (await send_form(http, link, "/sign-up", **fields)).status_code == 303
            assert (await http.get("/api/v1/me")).json()["role"] == "student"
    left = await either.http.get("/api/v1/invitations", headers=either.bearer)
    assert left.json()["invitations"] == []


async def test_two_hundred_over_rest(either):
    body = {"notes": [f"student {number}" for number in range(200)], "expires_in_days": 7}
    answer = await either.http.post(API, json=body, headers=either.bearer)
    made = answer.json()["invitations"]
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert [each["note"] for each in made] == body["notes"]
    assert len({each["url"] for each in made}) == 200
    for _ in range(4):
        again = await either.http.post(API, json=body, headers=either.bearer)
    assert again.status_code == 201
    full = await either.http.post(API, json={"notes": ["one more"]}, headers=either.bearer)
    assert (full.status_code, full.json()["slug"]) == (409, "too-many-invitations")


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        (["Ada", "Grace", "Ada"], "Names 1 and 3 are both 'Ada'"),
        (["Ada", " "], "name 2: must be one line of 1 to 100"),
        (["Ada", "a\u202eb"], "name 2: must be one line"),
        ([], "notes"),
        (["x" * 101], "notes.0"),
        ([str(number) for number in range(201)], "notes"),
    ],
)
async def test_one_fault_and_nobody_is_invited(service, notes, words):
    answer = await service.http.post(API, json={"notes": notes}, headers=service.bearer)
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text
    listed = await service.http.get("/api/v1/invitations", headers=service.bearer)
    assert listed.json()["invitations"] == []


async def test_the_page_keeps_what_was_typed_and_says_what_is_wrong(service):
    await sign_in(service)
    for names, words in (("Ada\nAda", "are both"), ("", "at least 1 entry"), ("x\n" * 201, "at most 200 entries")):
        answer = await send_form(service.http, PAGE, FORM, notes=names)
        assert (answer.status_code, words in answer.text) == (422, True)
        assert f">{names.strip()}" in answer.text


async def test_a_student_invites_nobody(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        answer = await http.post(API, json={"notes": ["x"]}, headers=SITE | {"Accept": "application/json"})
        assert (answer.status_code, answer.json()["slug"]) == (403, "role-missing")
