"""How an attempt was graded, as instructors read it for support: by page and over REST."""

import json

import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import browser, sign_up
from tests.app.teaching.courses.test_assistants import appoint
from tests.app.teaching.courses.test_courses import create, join
from tests.app.teaching.people.test_attempts_of_others import GOOD, PAGE, me, send

pytestmark = pytest.mark.anyio
FAILED = {
    "worker": "grader-2:4711",
    "code": "0123456789abcdef jax 0.0.0",
    "started_at": "2026-01-05T09:30:00+00:00",
    "ended_at": "2026-01-05T09:30:02.500000+00:00",
    "end": "failed",
    "message": "the disk <is> full",
    "phases": [[0, "starting"], [1500, "comparing"]],
}


@pytest.fixture
async def people(either):
    """Browsers of two students and an instructor."""
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        yield ada, bob, tess


async def test_a_grading_has_its_worker_and_its_phases(either, people):
    ada, _, tess = people
    here = f"/people/{await me(ada)}/attempts/{await send(either, ada, GOOD)}"
    found = (await tess.get(f"/api/v1{here}/grading")).json()
    assert (found["status"], found["counted"], found["walls"]) == ("finished", 1, [])
    [only] = found["tries"]
    assert (only["end"], only["message"]) == ("finished", "")
    assert [each["phase"] for each in only["phases"]] == ["starting", "comparing"]
    assert found["started_at"] == only["started_at"]
    assert found["finished_at"] >= only["ended_at"] >= only["started_at"]
    assert f'href="{here}/grading"' in (await tess.get(here)).text
    page = (await tess.get(f"{here}/grading")).text
    assert only["worker"] in page
    assert "comparing with the reference" in page
    assert "finished with a verdict" in page


async def test_a_try_that_failed_says_why(either, people):
    ada, _, tess = people
    attempt = await send(either, ada, GOOD)
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt)
        row.gradings, row.tries = [FAILED, *row.gradings], 2
    here = f"/people/{await me(ada)}/attempts/{attempt}/grading"
    tries = (await tess.get(f"/api/v1{here}")).json()["tries"]
    assert [each["end"] for each in tries] == ["failed", "finished"]
    page = " ".join((await tess.get(here)).text.split())
    assert "the disk &lt;is&gt; full" in page
    assert "the grader failed after 2.5 s." in page
    assert page.count("<h2 id=") == 2
    async with either.services[Database].writing() as session:
        (await session.get_one(AttemptRow, attempt)).gradings = None
    assert "No worker has taken it." in (await tess.get(here)).text


async def test_only_instructors_read_it_and_it_is_not_exported(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await appoint(tess, course, await me(bob))
    here = f"/people/{await me(ada)}/attempts/{await send(either, ada, GOOD)}"
    for path in (f"{here}/grading", f"/api/v1{here}/grading"):
        assert (await tess.get(path, headers=PAGE)).status_code == 200
        for reader in (ada, bob):
            assert (await reader.get(path, headers=PAGE)).status_code == 403, path
    assert f"{here}/grading" not in (await bob.get(here)).text
    [exported] = json.loads((await ada.get("/api/v1/me/export")).text)["attempts"]
    assert "gradings" not in exported
