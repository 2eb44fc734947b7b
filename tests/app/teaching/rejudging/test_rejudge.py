"""A rejudge: another version judges each scored attempt, nothing counts before it is applied, and nothing is lost."""

import asyncio
import json
from datetime import datetime, timedelta

import anyio
import pytest
from sqlalchemy import func, select, update

from app.accounts.service import Accounts
from app.core.clock import MINUTE, end_of_minute, now
from app.core.database import Database
from app.core.outbound_requests import Outside
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import GradeQueue, QueueStats
from app.grading.queue.withheld_verdicts import WithheldRow
from app.operations.webhooks.models import DeliveryRow, WebhookRow
from app.teaching.rejudging import pump
from app.teaching.rejudging.models import RejudgedRow
from grader.core.errors import Cancelled
from tests.app.accounts.people import sign_in
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES
from tests.app.grading.attempts.handing_in import hand_in
from tests.app.loops import quicken
from tests.app.program_verdict import program_verdict

pytestmark = pytest.mark.anyio
ONE = "/api/v1/problems/add_one"
OLD_SOURCE, NEW_SOURCE = FILES["reference.py"], "def add_one(x): return 2 + x - 1\n"
NEW = FILES | {"reference.py": NEW_SOURCE}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    quicken(monkeypatch)


async def call(service, method, path, bearer=None, **body):
    return await service.http.request(method, f"{ONE}{path}", headers=bearer or service.bearer, json=body or None)


async def student(service, name):
    accounts = service.services[Accounts]
    await accounts.preset_token(await accounts.add_user(name, "student"), f"the-token-of-{name}")
    return {"Authorization": f"Bearer the-token-of-{name}"}


async def submit(service, source, bearer):
    answer = await call(service, "POST", "/attempts?wait=60", bearer, source=source)
    assert answer.json()["status"] == "finished"
    return answer.json()["id"]


async def published(service, files=NEW):
    answer = await upload(service, files)
    assert answer.status_code in (200, 201), answer.text
    version = answer.json()["version"]
    assert (await call(service, "POST", "/publish", version=version, force=True)).status_code == 200
    return version


async def rejudged(service, version, *, until="finished"):
    answer = await call(service, "POST", "/rejudge", version=version)
    assert answer.status_code == 202, answer.text
    return await reached(service, answer.headers["location"], until)


async def reached(service, location, status):
    while (found := (await service.http.get(location, headers=service.bearer)).json())["status"] != status:
        await asyncio.sleep(0.01)
    return found


async def scores(service, bearer, *attempts):
    found = [(await service.http.get(f"/api/v1/attempts/{each}", headers=bearer)).json() for each in attempts]
    return [each["score"] for each in found]


async def test_what_would_change_is_shown_and_counts_once_it_is_applied(either, package):
    ada, bob = await student(either, "ada"), await student(either, "bob")
    was_right, is_right = await submit(either, OLD_SOURCE, ada), await submit(either, NEW_SOURCE, bob)
    wrong = await submit(either, "x", bob)
    await call(either, "POST", "/runs?wait=60", ada, source=NEW_SOURCE)
    version = await published(either)
    told = await rejudged(either, version)
    assert (told["version"], told["total"], told["graded"], told["changed"], told["failed"]) == (version, 3, 3, 2, 0)
    assert told["applied_at"] is None
    changes = (await call(either, "GET", f"/rejudges/{told['id']}/changes")).json()
    old, new = {"version": package.version, "reason": None}, {"version": version}
    expected = {
        was_right: {
            "attempt": was_right,
            "user": "ada",
            "before": old | {"status": "accepted", "score": 100},
            "after": new | {"status": "rejected", "reason": "wrong_value", "score": 0},
        },
        is_right: {
            "attempt": is_right,
            "user": "bob",
            "before": old | {"status": "rejected", "score": 0},
            "after": new | {"status": "accepted", "reason": None, "score": 100},
        },
    }
    assert changes == {"changes": [expected[each] for each in sorted(expected)], "next": None}
    assert await scores(either, ada, was_right) + await scores(either, bob, is_right, wrong) == [100, 0, 0]

    answer = await call(either, "POST", f"/rejudges/{told['id']}/apply")
    assert answer.status_code == 202
    applied = await reached(either, f"{ONE}/rejudges/{told['id']}", "applied")
    assert applied["applied_at"] is not None
    assert await scores(either, ada, was_right) + await scores(either, bob, is_right, wrong) == [0, 100, 0]
    shown = (await either.http.get(f"/api/v1/attempts/{was_right}", headers=ada)).json()
    assert (shown["version"], shown["verdict"]["status"], shown["verdict"]["version"]) == (version, "rejected", version)
    assert shown["rejudged"]["score_before"] == 100
    progress = (await either.http.get("/api/v1/me/progress", headers=bob)).json()["problems"]
    assert progress == [{"problem": "add_one", "best_score": 100, "accepted": True}]
    # A second request finds nothing left to do.
    assert (await call(either, "POST", "/publish", version=version, force=True)).json()[
        "attempts_at_other_versions"
    ] == 0
    assert (await call(either, "POST", f"/rejudges/{told['id']}/apply")).json() == applied
    async with either.services[Database].reading() as session:
        item = await session.get_one(RejudgedRow, (told["id"], was_right))
        trial = await session.get_one(AttemptRow, item.trial_id)
    assert (trial.verdict["status"], trial.version, trial.score) == ("accepted", package.version, None)


async def test_students_see_nothing_of_it(either):
    ada = await student(either, "ada")
    attempt = await submit(either, OLD_SOURCE, ada)
    told = await rejudged(either, await published(either))
    listed = (await either.http.get("/api/v1/attempts", headers=ada)).json()["attempts"]
    assert [each["id"] for each in listed] == [attempt]
    async with either.services[Database].reading() as session:
        trial = await session.scalar(select(AttemptRow.id).where(AttemptRow.kind == "rejudge"))
    for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
        answer = await either.http.request(method, f"/api/v1/attempts/{trial}{path}", headers=ada)
        assert (answer.status_code, answer.json()["slug"]) == (404, "attempt-not-found")
    for method, path in (("GET", ""), ("GET", "/changes"), ("POST", "/apply"), ("DELETE", "")):
        assert (await call(either, method, f"/rejudges/{told['id']}{path}", ada)).status_code == 403
    ranked = (await either.http.get(f"{ONE}/ranking", headers=ada)).json()
    assert ranked["places"] == []


async def test_one_that_is_cancelled_changes_nothing_and_leaves_nothing(either):
    ada = await student(either, "ada")
    attempt = await submit(either, OLD_SOURCE, ada)
    version = await published(either)
    told = await rejudged(either, version)
    for _ in range(2):
        gone = (await call(either, "DELETE", f"/rejudges/{told['id']}")).json()
        assert gone["status"] == "cancelled"
    assert await scores(either, ada, attempt) == [100]
    async with either.services[Database].reading() as session:
        assert await session.scalar(select(func.count()).where(AttemptRow.kind == "rejudge")) == 0
    refused = await call(either, "POST", f"/rejudges/{told['id']}/apply")
    assert (refused.status_code, refused.json()["slug"]) == (409, "rejudge-cancelled")
    assert (await rejudged(either, version))["id"] != told["id"]


async def test_what_waits_or_runs_is_stopped_when_it_is_cancelled(either, monkeypatch):
    ada = await student(either, "ada")
    for _ in range(3):
        await submit(either, OLD_SOURCE, ada)
    version = await published(either)

    def judge(self, package, source, context, **options):
        context.stop.wait()
        raise Cancelled("stopped")

    monkeypatch.setattr("app.grading.queue.null_grader.NullGrader.judge", judge)
    queue = either.services[GradeQueue]
    answer = await call(either, "POST", "/rejudge", version=version)
    while (stats := await queue.stats()).queued + stats.running < 3 or not stats.running:
        await asyncio.sleep(0.01)
    early = await call(either, "POST", f"/rejudges/{answer.json()['id']}/apply")
    assert (early.status_code, early.json()["slug"]) == (409, "rejudge-not-finished")
    await call(either, "DELETE", f"/rejudges/{answer.json()['id']}")
    assert await queue.stats() == QueueStats(queued=0, running=0)


async def test_a_rejudge_has_the_hidden_inputs_that_the_attempt_had(either, monkeypatch):
    draws = []
    judge = NullGrader.judge

    def noted(self, *args, draw, **options):
        draws.append(draw)
        return judge(self, *args, draw=draw, **options)

    monkeypatch.setattr(NullGrader, "judge", noted)
    attempt = await submit(either, OLD_SOURCE, await student(either, "ada"))
    await rejudged(either, await published(either))
    assert draws == [attempt, attempt]


async def test_one_at_a_time_and_the_same_only_once(either):
    await submit(either, OLD_SOURCE, await student(either, "ada"))
    version = await published(either)
    first = await rejudged(either, version)
    again = await call(either, "POST", "/rejudge", version=version)
    assert (again.status_code, again.json()) == (202, first)
    other = (await upload(either, FILES | {"statement.md": "Add one, differently."})).json()["version"]
    refused = await call(either, "POST", "/rejudge", version=other)
    assert (refused.status_code, refused.json()["slug"]) == (409, "rejudge-under-way")
    assert first["id"] in refused.json()["detail"]


async def test_they_are_listed_newest_first_and_in_pages(either):
    first = (await rejudged(either, (await upload(either, NEW)).json()["version"]))["id"]
    await call(either, "DELETE", f"/rejudges/{first}")
    second = (await rejudged(either, (await upload(either, NEW)).json()["version"]))["id"]
    listed = (await call(either, "GET", "/rejudges")).json()
    assert ([each["id"] for each in listed["rejudges"]], listed["next"]) == ([second, first], None)
    assert listed["rejudges"][1] == (await call(either, "GET", f"/rejudges/{first}")).json()
    page = (await call(either, "GET", "/rejudges?limit=1")).json()
    assert ([each["id"] for each in page["rejudges"]], page["next"]) == ([second], second)
    last = (await call(either, "GET", f"/rejudges?limit=1&before={second}")).json()
    assert ([each["id"] for each in last["rejudges"]], last["next"]) == ([first], None)


async def test_it_can_be_looked_at_before_the_version_is_published_and_applied_after(either):
    await submit(either, OLD_SOURCE, await student(either, "ada"))
    version = (await upload(either, NEW)).json()["version"]
    told = await rejudged(either, version)
    assert told["changed"] == 1
    refused = await call(either, "POST", f"/rejudges/{told['id']}/apply")
    assert (refused.status_code, refused.json()["slug"]) == (409, "version-not-served")
    await published(either)
    assert (await call(either, "POST", f"/rejudges/{told['id']}/apply")).status_code == 202
    await reached(either, f"{ONE}/rejudges/{told['id']}", "applied")
    late = await call(either, "DELETE", f"/rejudges/{told['id']}")
    assert (late.status_code, late.json()["slug"]) == (409, "rejudge-applied")


async def test_what_the_grader_could_not_judge_keeps_its_verdict(start_service, database_url, monkeypatch):
    async with start_service(database_url=database_url, max_tries=1) as service:
        ada = await student(service, "ada")
        attempt = await submit(service, OLD_SOURCE, ada)
        version = await published(service)

        def stumble(*args, **options):
            raise RuntimeError("a grader's fault")

        monkeypatch.setattr("app.grading.queue.null_grader.NullGrader.judge", stumble)
        told = await rejudged(service, version)
        assert (told["graded"], told["changed"], told["failed"]) == (1, 0, 1)
        await call(service, "POST", f"/rejudges/{told['id']}/apply")
        await reached(service, f"{ONE}/rejudges/{told['id']}", "applied")
        shown = (await service.http.get(f"/api/v1/attempts/{attempt}", headers=ada)).json()
        assert (shown["score"], shown["rejudged"]) == (100, None)


async def test_more_than_are_queued_at_once_and_pages_of_changes(either, monkeypatch):
    monkeypatch.setattr(pump, "_AT_ONCE", 3)
    ada = await student(either, "ada")
    attempts = [await submit(either, NEW_SOURCE, ada) for _ in range(7)]
    told = await rejudged(either, await published(either))
    assert (told["total"], told["changed"]) == (7, 7)
    found, after = [], ""
    while after is not None:
        query = f"?limit=3&after={after}" if after else "?limit=3"
        page = (await call(either, "GET", f"/rejudges/{told['id']}/changes{query}")).json()
        found += [each["attempt"] for each in page["changes"]]
        after = page["next"]
    assert found == sorted(attempts)
    await call(either, "POST", f"/rejudges/{told['id']}/apply")
    await reached(either, f"{ONE}/rejudges/{told['id']}", "applied")
    assert await scores(either, ada, *attempts) == [100] * 7


async def test_a_rank_goes_with_the_verdict_and_a_webhook_hears_of_the_change_alone(start_service, database_url):
    async with start_service(database_url=database_url) as service:
        database = service.services[Database]
        ada = await service.services[Accounts].add_user("ada", "student")
        await hand_in(database, ada, program_verdict("add_one", efficiency=90.0))
        async with database.writing() as session:
            session.add(WebhookRow(id="7" * 32, user_id=ada.id, url="https://example.org/", created_at=now()))
        told = await rejudged(service, await published(service))
        async with database.reading() as session:
            assert await session.scalar(select(func.count()).select_from(DeliveryRow)) == 0
        await call(service, "POST", f"/rejudges/{told['id']}/apply")
        await reached(service, f"{ONE}/rejudges/{told['id']}", "applied")
        assert (await service.http.get(f"{ONE}/ranking", headers=service.bearer)).json()["places"] == []
        async with database.reading() as session:
            assert await session.scalar(select(func.count()).select_from(DeliveryRow)) == 1


async def test_a_change_of_a_verdict_that_an_exam_hides_is_sent_once_it_has_closed(start_service, monkeypatch):
    bodies: list[bytes] = []

    async def receive(self, url, headers, body):
        bodies.append(body)
        return 204

    monkeypatch.setattr(Outside, "post", receive)
    async with start_service() as service:
        database = service.services[Database]
        ada = await service.services[Accounts].add_user("ada", "student")
        await hand_in(database, ada, program_verdict("add_one", efficiency=90.0))
        until = now() + timedelta(hours=1)
        async with database.writing() as session:
            session.add(WebhookRow(id="7" * 32, user_id=ada.id, url="https://example.org/", created_at=now()))
            attempt_id = await session.scalar(select(AttemptRow.id))
            of = {"attempt_id": attempt_id, "assignment_id": "8" * 32, "user_id": ada.id, "problem": "add_one"}
            session.add(WithheldRow(**of, until=until))
        told = await rejudged(service, await published(service))
        await call(service, "POST", f"/rejudges/{told['id']}/apply")
        await reached(service, f"{ONE}/rejudges/{told['id']}", "applied")

        async def due() -> datetime | None:
            async with database.reading() as session:
                return await session.scalar(select(DeliveryRow.next_try_at))

        with anyio.fail_after(60):
            while await due() != end_of_minute(until):
                await asyncio.sleep(0.02)
        assert bodies == []
        async with database.writing() as session:
            await session.execute(update(WithheldRow).values(until=now() - MINUTE))
            await session.execute(update(DeliveryRow).values(next_try_at=now()))
        with anyio.fail_after(60):
            while not bodies:
                await asyncio.sleep(0.02)
        assert b'"verdict":{' in bodies[0]


async def test_an_account_that_is_deleted_meanwhile_takes_its_attempts_out(either):
    ada, bob = await student(either, "ada"), await student(either, "bob")
    for each in (ada, bob):
        await submit(either, NEW_SOURCE, each)
    told = await rejudged(either, await published(either))
    gone = await either.http.request("DELETE", "/api/v1/me", headers=ada, params={"name": "ada"})
    assert gone.status_code == 204, gone.text
    await call(either, "POST", f"/rejudges/{told['id']}/apply")
    applied = await reached(either, f"{ONE}/rejudges/{told['id']}", "applied")
    assert (applied["total"], applied["changed"]) == (1, 1)


async def test_unknown_ones_are_told_so(either, package):
    unknown = await call(either, "POST", "/rejudge", version="0" * 64)
    assert (unknown.status_code, unknown.json()["slug"]) == (404, "version-not-found")
    answer = await either.http.post(
        "/api/v1/problems/other/rejudge", headers=either.bearer, json={"version": package.version}
    )
    assert (answer.status_code, answer.json()["slug"]) == (404, "version-not-found")
    for rejudge_id in ("0" * 32, "no-id", "%00"):
        found = await call(either, "GET", f"/rejudges/{rejudge_id}")
        assert (found.status_code, found.json()["slug"]) == (404, "rejudge-not-found"), json.dumps(found.json())
    none = await rejudged(either, package.version)
    assert (none["total"], none["changed"]) == (0, 0)


async def test_the_page_of_an_attempt_says_that_it_was_graded_again(service):
    await sign_in(service)
    attempt = await submit(service, OLD_SOURCE, service.bearer)
    told = await rejudged(service, await published(service))
    assert "graded this attempt again" not in (await service.http.get(f"/attempts/{attempt}")).text
    await call(service, "POST", f"/rejudges/{told['id']}/apply")
    await reached(service, f"{ONE}/rejudges/{told['id']}", "applied")
    page = (await service.http.get(f"/attempts/{attempt}")).text
    assert "graded this attempt again" in page
    assert "100 before" in " ".join(page.split())


async def test_points_that_were_changed_by_hand_stay(either):
    ada = await student(either, "ada")
    attempt = await submit(either, OLD_SOURCE, ada)
    person = (await either.http.get("/api/v1/me", headers=ada)).json()["id"]
    override = f"/api/v1/people/{person}/attempts/{attempt}/override"
    by_hand = {"score": 70, "reason": "late, as agreed"}
    assert (await either.http.put(override, json=by_hand, headers=either.bearer)).status_code == 200
    version = await published(either)
    told = await rejudged(either, version)
    [change] = (await call(either, "GET", f"/rejudges/{told['id']}/changes")).json()["changes"]
    assert (change["before"]["score"], change["after"]["score"]) == (70, 70)
    assert change["after"]["status"] == "rejected"
    await call(either, "POST", f"/rejudges/{told['id']}/apply")
    await reached(either, f"{ONE}/rejudges/{told['id']}", "applied")
    found = (await either.http.get(f"/api/v1/attempts/{attempt}", headers=ada)).json()
    assert (found["score"], found["verdict"]["score"], found["override"]["score_before"]) == (70, 0, 0)
    assert (await either.http.delete(override, headers=either.bearer)).status_code == 204
    assert await scores(either, ada, attempt) == [0]
