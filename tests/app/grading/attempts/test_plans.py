"""The databases look for attempts along an index, however many there are, and never scan the whole table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, insert, text

from app.accounts.models import UserRow
from app.accounts.service import User
from app.authoring.service import Authoring
from app.authoring.validations import Validations
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.grading.attempts.active_days import WINDOW, days
from app.grading.attempts.progress import progress, standings
from app.grading.attempts.ranking import name_of_first, ranking, trend
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptViews
from app.grading.owned_work import WorkLimits
from app.grading.queue.embedded_queue import EmbeddedQueue, QueueLimits
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import line_up
from app.grading.queue.leases import failed_verdict
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.slots import Slots
from app.grading.queue.walls import Walls
from app.operations.operating.attempt_statistics import AttemptStatistics, waiting
from app.problems.catalogue import Catalogue
from app.problems.catalogue_refresh import CatalogueRefresh
from app.problems.package_store import PackageStore
from app.problems.rendered_texts import RenderedTexts
from tests.app.conftest import WallState
from tests.app.grading.queue.taking import HERE, TakingLeases

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]
USERS = [User(f"user{number:028}", f"user {number}", "student") for number in range(40)]
ADA = USERS[0]
PROBLEM = "add_one"
VERDICT = failed_verdict(PROBLEM, "v", "y" * 1000).model_dump(mode="json")
# For someone with years of attempts, the last weeks are a small part.
FIRST = datetime(2026, 1, 5, tzinfo=UTC)
LAST = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(seconds=5900)
MIDDLE = f"{2400:032x}"  # one of Ada's
WAITS = f"{5980:032x}"


@dataclass(frozen=True, slots=True)
class Place:
    """A database with a few thousand attempts, and the services that query it."""

    database: Database
    attempts: Attempts
    authoring: Authoring
    queue: EmbeddedQueue
    leases: TakingLeases


Ask = Callable[[Place], Awaitable[object]]


async def _place(at: Place) -> object:
    async with at.database.reading() as session:
        row = await session.get_one(AttemptRow, WAITS)
    return await at.queue.place(row)


BY_TIME, BY_PROBLEM = "ix_attempts_user_id_created_at_id", "ix_attempts_user_id_problem_created_at_id"
BY_TURN = "ix_attempts_status_priority_turn_at_id"
SCORED, RANKED, WAITING = "ix_attempts_scored", "ix_attempts_ranked", "ix_attempts_waiting"
JUDGED, ENDED = "ix_attempts_judged", "ix_attempts_finished_at"
QUESTIONS: dict[str, tuple[Ask, str]] = {
    "the list of attempts": (lambda at: at.attempts.list(ADA, Cursor(50)), BY_TIME),
    "a later page of it": (lambda at: at.attempts.list(ADA, Cursor(50, MIDDLE)), BY_TIME),
    "previous attempts at a problem": (lambda at: at.attempts.list(ADA, Cursor(10), PROBLEM), BY_PROBLEM),
    "earlier ones": (lambda at: at.attempts.list(ADA, Cursor(10, MIDDLE), PROBLEM), BY_PROBLEM),
    "best scores": (lambda at: standings(at.database, ADA), SCORED),
    "the best score at a problem": (lambda at: standings(at.database, ADA, PROBLEM), SCORED),
    "how far somebody has come": (lambda at: progress(at.database, ADA), SCORED),
    "on which days": (lambda at: days(at.database, ADA, LAST + WINDOW, UTC), BY_TIME),
    "the ranking": (lambda at: ranking(at.database, PROBLEM, ADA, 100), RANKED),
    "who was first in it": (lambda at: name_of_first(at.database, PROBLEM, FIRST), RANKED),
    "the user's own attempts in it": (lambda at: trend(at.database, PROBLEM, ADA), RANKED),
    "how many were judged by another version": (lambda at: at.authoring.judged_by_others(PROBLEM, "w"), JUDGED),
    "is somebody flooding the queue": (lambda at: at.attempts.submit(ADA, PROBLEM, "x", "attempt"), WAITING),
    "how long is the queue": (lambda at: at.queue.stats(), BY_TURN),
    "what is next in the queue": (lambda at: at.leases.take(), BY_TURN),
    "how many are ahead": (lambda at: _place(at), BY_TURN),
    "how long waited each priority, for the metrics": (lambda at: waiting(at.database), BY_TURN),
    "what ended, for the metrics": (lambda at: AttemptStatistics(at.database).new(), ENDED),
    "whose worker died": (lambda at: at.leases.rescued(max_deaths=3, everything=False), BY_TURN),
}


@pytest.fixture
async def place(owners_database, package) -> Place:
    database = owners_database
    async with database.writing() as session:
        people = [{"id": user.id, "name": user.name, "role": user.role, "created_at": now()} for user in USERS]
        await session.execute(insert(UserRow), people)
        await session.execute(insert(AttemptRow), [_attempt(number) for number in range(6000)])
    if database.engine.dialect.name == "postgresql":
        # SQLite plans without statistics, as nobody collects them in a running service either; PostgreSQL does that.
        async with database.engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE attempts"))
    store = PackageStore(database)
    events, walls, catalogue = WorkEvents(), Walls(lambda: [WallState()]), Catalogue([package])
    walls.probe()
    shared = (walls, events, QueueLimits(1, 30.0, 2.0, 3, 8))
    queue = EmbeddedQueue(database, Slots(database, NullGrader(), catalogue, *shared, by=HERE), *shared, sole=True)
    limits = WorkLimits(max_source_bytes=1000, max_waiting_per_user=20)
    return Place(
        database,
        Attempts(database, catalogue, AttemptViews(catalogue), queue, events, walls, limits),
        Authoring(
            database,
            store,
            RenderedTexts(database),
            CatalogueRefresh(catalogue, store),
            Validations(database, line_up),
            walls,
        ),
        queue,
        TakingLeases(database, lease_s=30.0, retry_s=2.0),
    )


def _attempt(number: int) -> dict[str, Any]:
    """Every 40th is of the same user; of those of a user, every fifth at the same problem. Few wait."""
    waiting = number >= 5960
    accepted = not waiting and number % 3 == 0
    return {
        "id": f"{number:032x}",
        "user_id": USERS[number % 40].id,
        "problem": PROBLEM if number // 40 % 5 == 0 else f"problem_{number % 12}",
        "version": "v",
        "kind": "attempt",
        "source": "x" * 500,
        "status": ("running" if number % 2 else "queued") if waiting else "finished",
        "priority": 10,
        "tries": 0,
        # Whole rows are long, so a plan that reads them all is expensive even on a small table.
        "verdict": None if waiting else VERDICT,
        "verdict_status": None if waiting else "accepted" if accepted else "rejected",
        "score": None if waiting else 100 if accepted else 0,
        "efficiency": 100.0 + number % 7 if accepted else None,
        "created_at": datetime(2026, 1, 5, tzinfo=UTC) + timedelta(seconds=number),
    }


async def plans(place: Place, ask: Ask) -> list[str]:
    """Run the call, and let the database explain each query of attempts in it: one line per step."""
    asked: list[tuple[str, Any]] = []

    def note(connection: object, cursor: object, statement: str, parameters: Any, *rest: object) -> None:
        if "attempts" in statement and not statement.startswith("INSERT"):
            asked.append((statement, parameters[0] if isinstance(parameters, list) else parameters))

    engine = place.database.engine
    event.listen(engine.sync_engine, "before_cursor_execute", note)
    await ask(place)
    event.remove(engine.sync_engine, "before_cursor_execute", note)
    steps: list[str] = []
    async with engine.connect() as connection:
        for statement, parameters in asked:
            if engine.dialect.name == "sqlite":
                found = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                steps += [row.detail for row in found]
            else:
                found = await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
                steps += [line for (trees,) in found for tree in trees for line in _steps(tree["Plan"])]
    return steps


def _steps(node: dict[str, Any]) -> list[str]:
    """The steps of PostgreSQL's plan, such as 'Seq Scan attempts' or 'Index Scan ix_attempts_scored'."""
    line = f"{node['Node Type']} {node.get('Index Name') or node.get('Relation Name', '')}"
    return [line, *(step for inner in node.get("Plans", ()) for step in _steps(inner))]


async def refusals(place: Place, name: str) -> list[str]:
    """The steps of the plan that read too much."""
    ask, index = QUESTIONS[name]
    steps = await plans(place, ask)
    # "SCAN attempts USING INDEX" would read all of an index, which grows as the table does.
    found = [f"{name}: {step}" for step in steps if step.startswith(("SCAN attempts", "Seq Scan attempts"))]
    return found if any(index in step for step in steps) else [*found, f"{name}: not by {index} but by {steps}"]


async def test_attempts_are_found_along_an_index(place):
    assert [refusal for name in QUESTIONS for refusal in await refusals(place, name)] == []


async def test_a_ranking_reads_nothing_but_its_index(place):
    for name, (ask, index) in QUESTIONS.items():
        if index == RANKED:
            steps = [step for step in await plans(place, ask) if index in step]
            read_rows = [step for step in steps if "COVERING" not in step and "Index Only Scan" not in step]
            assert (name, bool(steps), read_rows) == (name, True, [])


async def test_a_missing_index_would_be_noticed(place):
    for index in sorted({index for _, index in QUESTIONS.values()}):
        async with place.database.writing() as session:
            await session.execute(text(f"DROP INDEX {index}"))
        for name, (_, expected) in QUESTIONS.items():
            if expected == index:
                assert await refusals(place, name), name
