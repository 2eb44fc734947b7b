"""The order of all work: users in turn, then runs, attempts and rejudges; and a slot that no rejudge takes."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import update

from app.accounts.models import UserRow
from app.authoring.models import ValidationRow
from app.core.clock import now
from app.grading.queue.fair_share import VALIDATIONS
from app.grading.queue.models import AttemptRow
from app.learning.explorer.models import ExplorationRow

pytestmark = pytest.mark.anyio


async def test_in_each_round_runs_go_before_attempts_and_those_before_rejudges(backend):
    await backend.hand_in("take 0 rejudge", "ada", kind="rejudge")
    await backend.hand_in("take 0 attempt", "bob")
    await backend.hand_in("take 0 run", "cyd", kind="run")
    async with backend.grading():
        await backend.began("take 0 rejudge")
    assert backend.noted("began") == ["take 0 run", "take 0 attempt", "take 0 rejudge"]


async def test_however_many_runs_a_user_has_a_classmates_attempt_waits_for_one(backend):
    for number in range(30):
        await backend.hand_in(f"take 0 run-{number}", "ada", kind="run")
    attempt = await backend.hand_in("take 0 attempt", "bob")
    assert (await backend.queue.place(await backend.read(attempt))).ahead == 1
    async with backend.grading():
        await backend.ended(attempt)
    assert backend.noted("began").index("take 0 attempt") == 1


async def hold_up(backend):
    """Queue one piece of each kind that nobody takes: for a slot that no process has here, and for its next try."""
    common = {"created_at": now()}
    backed_off = await backend.hand_in("take 0 later", "cyd")
    chip = ExplorationRow(id="chip", user_id="cyd", digest="d", source="x", chip="v5e", **common)
    steps = {"steps": [], "total": 1}
    validation = ValidationRow(id="v", version=backend.package.version, share=VALIDATIONS, **steps, **common)
    async with backend.database.writing() as session:
        for each in (chip, validation):
            await backend.queue.enqueue(session, each)
        later = update(AttemptRow).where(AttemptRow.id == backed_off)
        await session.execute(later.values(not_before=now() + timedelta(days=1)))


async def test_what_waits_for_long_keeps_no_attempt_behind_live_pictures(backend):
    await hold_up(backend)
    people = [f"live-{number}" for number in range(4)]
    async with backend.database.writing() as session:
        session.add_all([UserRow(id=name, name=name, role="student", created_at=now()) for name in people])
    sent = Counter()

    async def run(name):
        """As an editor does: a run whenever the last one has ended."""
        while True:
            sent[name] += 1
            await backend.ended(await backend.hand_in(f"take 0.1 {name} {sent[name]}", name, "run"))

    async with backend.grading(lease_s=8):
        live = [asyncio.create_task(run(name)) for name in people]
        for name in people:
            await backend.began(f"take 0.1 {name} 2")
        # Bob has just been served, and so has everyone else.
        await backend.ended(await backend.hand_in("take 0 run", "bob", "run"))
        before = len(backend.noted("began"))
        attempt = await backend.hand_in("take 0 attempt", "bob")
        await backend.ended(attempt)
        for each in live:
            each.cancel()
        await asyncio.gather(*live, return_exceptions=True)
    began = backend.noted("began")
    others = Counter(each.split()[2] for each in began[before : began.index("take 0 attempt")])
    # One of each. One of these people may have been served while the attempt was on its way.
    assert others.total() <= len(people) + 1
    assert max(others.values(), default=0) <= 2


async def test_of_twenty_runs_one_goes_before_a_classmates_attempt_whatever_waits(backend):
    await hold_up(backend)
    # Several rounds, so everything that is held up is old.
    rounds = [
        await backend.hand_in(f"take 0 before-{number}", name, "run") for number in range(5) for name in ("ada", "bob")
    ]
    async with backend.grading():
        for each in rounds:
            await backend.ended(each)
    before = len(backend.noted("began"))
    for number in range(20):
        await backend.hand_in(f"take 0 run-{number}", "ada", "run")
    attempt = await backend.hand_in("take 0 attempt", "bob")
    async with backend.grading():
        await backend.ended(attempt)
    assert backend.noted("began").index("take 0 attempt") - before <= 1


async def test_other_work_waits_in_the_same_line_as_submissions(backend):
    for number in range(4):
        await backend.hand_in(f"take 0 ada-{number}", "ada")
    for number in range(2):
        await backend.ask_for_a_lesson_run(f"take 0 bob-{number}", "bob")
    async with backend.grading():
        await backend.began("take 0 ada-3")
    assert [each.split()[2] for each in backend.noted("began")] == [
        "bob-0",
        "ada-0",
        "bob-1",
        "ada-1",
        "ada-2",
        "ada-3",
    ]


async def test_a_slot_that_becomes_free_goes_to_a_user_with_nothing_running(backend):
    async with backend.grading(slots=2):
        for source in ("take 60 long", "take 1 short"):
            await backend.hand_in(source, "ada")
            await backend.began(source)
        for number in range(2):
            await backend.hand_in(f"take 0 ada-{number}", "ada")
        last = [await backend.hand_in(f"take 0 bob-{number}", "bob") for number in range(2)]
        await backend.ended(last[1])
    # The long one keeps running, so Ada has one more running than Bob.
    order = [each.split()[2] for each in backend.noted("began")]
    assert order.index("bob-1") < (order.index("ada-0") if "ada-0" in order else len(order))


async def test_a_job_of_a_killed_worker_is_done_by_another(backend):
    async with backend.grading() as killed:
        await backend.ask_for_a_lesson_run("take 1 x")
        await backend.began("take 1 x")
        killed.kill()
        await killed.wait()
    await backend.expire_leases()
    async with backend.grading():
        await backend.began("take 1 x", times=2)
        while not backend.noted("ended"):
            await asyncio.sleep(0.05)
    assert backend.noted("ended") == ["take 1 x"]


async def test_one_user_cannot_starve_another(backend):
    for number in range(4):
        await backend.hand_in(f"take 0 ada-{number}", "ada")
    await backend.hand_in("take 0 bob-0", "bob")
    await backend.hand_in("take 0 bob-1", "bob")
    async with backend.grading():
        await backend.began("take 0 ada-3")
    assert [each.split()[2] for each in backend.noted("began")] == [
        "ada-0",
        "bob-0",
        "ada-1",
        "bob-1",
        "ada-2",
        "ada-3",
    ]


async def test_rejudges_leave_a_slot_free(backend):
    for number in range(3):
        await backend.hand_in(f"take 60 rejudge-{number}", kind="rejudge")
    async with backend.grading(slots=2):
        await backend.began("take 60 rejudge-0")
        # All at once: a process looks for what another one has queued every quarter of a lease.
        attempts = [await backend.hand_in(f"take 0 attempt-{number}") for number in range(3)]
        for each in attempts:
            await backend.ended(each)
        assert [each for each in backend.noted("began") if "rejudge" in each] == ["take 60 rejudge-0"]


async def test_a_process_of_one_slot_grades_rejudges_too(backend):
    attempt = await backend.hand_in("take 0 rejudge", kind="rejudge")
    async with backend.grading(slots=1):
        assert (await backend.ended(attempt)).status == "finished"
