"""A user's progress: one query, correct on both databases."""

import pytest
from sqlalchemy import event

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.grading.attempts.progress import Progress, Standing, progress, standings
from app.grading.queue.leases import failed_verdict
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
ADA, BOB = User("ada", "ada", "student"), User("bob", "bob", "student")


@pytest.fixture
async def database(each_database):
    async with each_database.writing() as session:
        session.add_all([UserRow(id=user.id, name=user.name, role="student", created_at=now()) for user in (ADA, BOB)])
    return each_database


def rejected(score: int):
    update = {"status": "rejected", "reason": "wrong_value", "score": score}
    return accepted(None).model_copy(update=update)


async def test_the_best_score_counts_and_acceptance_stays(database):
    for verdict in (rejected(0), accepted(None), rejected(40)):
        await hand_in(database, ADA, verdict)
    await hand_in(database, ADA, rejected(60).model_copy(update={"problem": "another"}))
    assert await standings(database, ADA) == {"add_one": Standing(100, True), "another": Standing(60, False)}
    assert await standings(database, ADA, "another") == {"another": Standing(60, False)}
    assert await standings(database, BOB) == {}


async def test_full_points_alone_are_not_acceptance(database):
    await hand_in(database, ADA, rejected(100))
    assert await standings(database, ADA) == {"add_one": Standing(100, False)}


async def test_a_run_and_a_failure_of_ours_count_for_nothing(database):
    await hand_in(database, ADA, accepted(None, scored=False), kind="run")
    assert await standings(database, ADA) == {}
    await hand_in(database, ADA, failed_verdict("add_one", "v", "the grader died"))
    assert await standings(database, ADA) == {}


async def test_a_verdict_that_holds_a_nul_is_read(database):
    await hand_in(database, ADA, accepted(None).model_copy(update={"stdout": "a\0b"}))
    assert (await standings(database, ADA))["add_one"].accepted


async def test_progress_knows_what_was_only_run_and_when(database):
    run = await hand_in(database, ADA, accepted(None, scored=False), kind="run")
    assert await progress(database, ADA) == {"add_one": Progress(run, None, False)}
    attempt = await hand_in(database, ADA, rejected(40))
    assert await progress(database, ADA) == {"add_one": Progress(attempt, 40, False)}
    await hand_in(database, ADA, accepted(None))
    last = await hand_in(database, ADA, rejected(0))
    assert await progress(database, ADA) == {"add_one": Progress(last, 100, True)}
    assert await progress(database, BOB) == {}


async def test_a_rejudge_is_nothing_that_the_user_sent(database):
    attempt = await hand_in(database, ADA, rejected(40))
    await hand_in(database, ADA, accepted(None, scored=False), kind="rejudge")
    assert await progress(database, ADA) == {"add_one": Progress(attempt, 40, False)}


@pytest.mark.parametrize("ask", [standings, progress])
async def test_attempts_are_read_with_one_query(database, ask):
    for _ in range(3):
        await hand_in(database, ADA, accepted(None))
    statements: list[str] = []
    event.listen(
        database.engine.sync_engine,
        "before_cursor_execute",
        lambda connection, cursor, statement, *rest: statements.append(statement),
    )
    await ask(database, ADA)
    # Beside it, one looks whether an exam hides anything.
    assert len([each for each in statements if "FROM attempts" in each]) == 1
    assert len([each for each in statements if each.startswith("SELECT")]) == 2
