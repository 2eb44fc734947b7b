"""How long a problem takes: the median of what people took, without pauses."""

from datetime import UTC, datetime, timedelta

import pytest

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.learning.workbench.models import DraftRow
from app.learning.workbench.solving_times import FEWEST, SolvingTime, SolvingTimes, times_of
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
START = datetime(2026, 1, 5, tzinfo=UTC)


def sent(user: int, minutes: float, *, is_accepted: bool = False, begun: float | None = None, kind: str = "attempt"):
    status = "accepted" if is_accepted else "rejected"
    begun_at = None if begun is None else START + timedelta(minutes=begun)
    return "a", f"user-{user}", START + timedelta(minutes=minutes), kind, status, begun_at


def times(*rows) -> SolvingTime | None:
    """As many people as there must be did the same."""
    many = [(slug, f"{user}-{n}", *rest) for slug, user, *rest in rows for n in range(FEWEST)]
    return times_of(many).get("a")


def test_time_runs_from_the_first_draft_to_the_first_accepted_attempt():
    assert times(sent(1, 9, begun=2), sent(1, 15, is_accepted=True, begun=2)) == SolvingTime(13, FEWEST)
    assert times(sent(1, 9), sent(1, 15, is_accepted=True), sent(1, 40, is_accepted=True)) == SolvingTime(6, FEWEST)


def test_a_pause_counts_for_twenty_minutes():
    assert times(sent(1, 0), sent(1, 300), sent(1, 305, is_accepted=True)) == SolvingTime(25, FEWEST)


def test_an_accepted_run_solves_nothing():
    assert times(sent(1, 0), sent(1, 5, is_accepted=True, kind="run")) is None


def test_the_median_of_enough_people_counts():
    rows = [row for user in range(FEWEST) for row in (sent(user, 0), sent(user, user, is_accepted=True))]
    assert times_of(rows)["a"] == SolvingTime(10, FEWEST)
    assert times_of(rows[:-2]) == {}


async def test_drafts_and_attempts_are_read_together(each_database):
    database = each_database
    people = [User(f"person-{n}", f"person-{n}", "student") for n in range(FEWEST)]
    async with database.writing() as session:
        session.add_all([UserRow(id=each.id, name=each.name, role="student", created_at=now()) for each in people])
    for each in people:
        at = await hand_in(database, each, accepted(None))
        async with database.writing() as session:
            begun_at = at - timedelta(minutes=8)
            session.add(
                DraftRow(user_id=each.id, problem="add_one", source="x", revision=1, saved_at=at, begun_at=begun_at)
            )
    assert await SolvingTimes(database).by_problem() == {"add_one": SolvingTime(8, FEWEST)}
