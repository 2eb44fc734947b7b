"""A draft is the same on every device, and no save replaces a text that its author has not seen."""

import asyncio
import json

import pytest
from sqlalchemy import text

from app.core.database import Database
from tests.app.accounts.people import browser, form_token, sign_in, sign_up

pytestmark = pytest.mark.anyio
DRAFT = "/api/v1/problems/add_one/draft"
PAGE = "/problems/add_one"


async def save(service, source: str, revision: float):
    return await service.http.put(DRAFT, json={"source": source, "revision": revision}, headers=service.bearer)


async def read(service) -> dict:
    return (await service.http.get(DRAFT, headers=service.bearer)).json()


async def test_there_is_none_at_first_and_then_what_was_saved(either):
    assert await read(either) == {"problem": "add_one", "source": None, "revision": 0, "saved_at": None}
    first = (await save(either, "x = 1", 0)).json()
    assert (first["source"], first["revision"]) == ("x = 1", 1)
    assert await read(either) == first
    assert (await save(either, "", 1)).json()["revision"] == 2
    assert (await read(either))["source"] == ""


async def test_what_was_changed_elsewhere_is_not_replaced(either):
    await save(either, "from the laptop", 0)
    for late in (0, 7):
        refused = await save(either, "from the desk", late)
        assert (refused.status_code, refused.json()["slug"]) == (409, "draft-conflict")
        assert refused.json()["draft"] == {"source": "from the laptop", "revision": 1}
    assert (await read(either))["source"] == "from the laptop"
    assert (await save(either, "from the desk", 1)).status_code == 200


async def test_saving_the_same_text_twice_is_no_conflict(either):
    await save(either, "x", 0)
    for revision in (0, 1, 5):
        again = await save(either, "x", revision)
        assert (again.status_code, again.json()["revision"]) == (200, 1)


async def test_a_whole_number_may_be_written_with_a_point(service):
    await save(service, "x", 0)
    assert (await save(service, "y", 1.0)).json()["revision"] == 2


@pytest.mark.parametrize("revision", [0, 1])
async def test_of_two_saves_at_once_one_wins(either, revision):
    if revision:
        await save(either, "before", 0)
    answers = await asyncio.gather(*(save(either, f"from {number}", revision) for number in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    [winner] = [answer.json() for answer in answers if answer.status_code == 200]
    assert await read(either) == winner


@pytest.mark.parametrize(
    ("body", "status", "slug"),
    [
        ({"source": "x" * 70_000, "revision": 0}, 413, "source-too-large"),
        ({"source": "a\0b", "revision": 0}, 422, "source-has-nul"),
        ({"source": "\ud800", "revision": 0}, 422, "source-not-text"),
        ({"source": "x"}, 422, "field-missing"),
        ({"source": "x", "revision": -1}, 422, "field-invalid"),
        ({"source": "x", "revision": 2**31}, 422, "field-invalid"),
        ({"source": "x", "revision": "1"}, 422, "field-invalid"),
        ({"source": "x", "revision": 0.5}, 422, "field-invalid"),
    ],
)
async def test_what_cannot_be_a_draft_is_refused(service, body, status, slug):
    headers = service.bearer | {"Content-Type": "application/json"}
    answer = await service.http.put(DRAFT, content=json.dumps(body), headers=headers)
    assert (answer.status_code, answer.json()["slug"]) == (status, slug)
    assert (await read(service))["revision"] == 0


async def test_everybody_has_their_own(service):
    await save(service, "SECRET-OF-THE-OWNER", 0)
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        assert (await http.get(DRAFT)).json()["revision"] == 0
        assert "SECRET-OF-THE-OWNER" not in (await http.get(PAGE)).text


async def test_the_page_begins_with_the_draft_and_names_its_revision(service, package):
    await sign_in(service)
    assert 'data-revision="0"' in (await service.http.get(PAGE)).text
    await save(service, "x = '<typed on another device>'", 0)
    page = (await service.http.get(PAGE)).text
    assert "x = &#39;&lt;typed on another device&gt;&#39;</textarea>" in page
    assert 'data-revision="1"' in page
    assert "data-sent" not in page
    async with browser(service) as nobody:
        assert "typed on another device" not in (await nobody.get(PAGE)).text


async def test_a_form_without_script_keeps_what_was_sent_as_the_draft(service):
    await sign_in(service)
    page = (await service.http.get(PAGE)).text
    fields = {"form_token": form_token(page), "action": "run", "source": "x = 1", "revision": "0"}
    headers = {"Origin": "http://meshgrade.test", "Accept": "text/html"}
    assert (await service.http.post(PAGE, data=fields, headers=headers)).status_code == 303
    assert (await read(service))["source"] == "x = 1"
    # One that was changed elsewhere stays.
    answer = await service.http.post(PAGE, data=fields | {"source": "x = 2"}, headers=headers)
    assert answer.status_code == 303
    assert (await read(service))["source"] == "x = 1"
    # A text that cannot be graded is stored, too.
    answer = await service.http.post(PAGE, data=fields | {"source": " ", "revision": "1"}, headers=headers)
    assert answer.status_code == 422
    assert (await read(service))["source"] == " "
    assert 'data-revision="2"' in answer.text


async def test_a_draft_is_exported_and_goes_with_its_author(either):
    async with browser(either) as http:
        await sign_up(either, http, "ada")
        body = {"source": "DRAFT-OF-ADA", "revision": 0}
        assert (await http.put(DRAFT, json=body, headers={"Origin": "http://meshgrade.test"})).status_code == 200
        stored = (await http.get("/api/v1/me/export")).json()
        [draft] = stored["drafts"]
        assert (draft["problem"], draft["source"], draft["revision"]) == ("add_one", "DRAFT-OF-ADA", 1)
        gone = await http.delete("/api/v1/me?name=ada", headers={"Origin": "http://meshgrade.test"})
        assert gone.status_code == 204, gone.text
    async with either.services[Database].reading() as session:
        assert (await session.execute(text("SELECT count(*) FROM drafts"))).scalar_one() == 0
