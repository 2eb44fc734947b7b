"""Active days and streaks: in every time zone, across changes of the clock, and with several attempts in a day."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.grading.attempts.active_days import count_days, days
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
ADA, BOB = User("ada", "ada", "student"), User("bob", "bob", "student")
BERLIN, AUCKLAND, LOS_ANGELES = map(ZoneInfo, ("Europe/Berlin", "Pacific/Auckland", "America/Los_Angeles"))


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        # 23:30 and 00:30 UTC: two days in London, one in Berlin and one in Los Angeles.
        (UTC, {date(2026, 1, 5): 1, date(2026, 1, 6): 1}),
        (BERLIN, {date(2026, 1, 6): 2}),
        (LOS_ANGELES, {date(2026, 1, 5): 2}),
    ],
)
def test_a_day_is_one_of_the_readers_clock(zone, expected):
    assert count_days([at("2026-01-05 23:30"), at("2026-01-06 00:30")], at("2026-01-06 12:00"), zone).sent == expected


def test_a_day_with_many_submissions_is_one_day_of_a_streak():
    sent = [at("2026-01-05 10:00"), at("2026-01-05 10:00"), at("2026-01-06 09:00"), at("2026-01-06 09:01")]
    assert count_days(sent, at("2026-01-06 12:00"), UTC).streak == 2


@pytest.mark.parametrize(
    ("moment", "streak"),
    [("2026-01-06 23:59", 2), ("2026-01-07 23:59", 2), ("2026-01-08 00:00", 0)],
)
def test_a_streak_lasts_until_a_whole_day_has_passed(moment, streak):
    assert count_days([at("2026-01-05 10:00"), at("2026-01-06 10:00")], at(moment), UTC).streak == streak


def test_a_gap_ends_a_streak():
    sent = [at(f"2026-01-{day:02} 10:00") for day in (1, 2, 4, 5, 6)]
    assert count_days(sent, at("2026-01-06 12:00"), UTC).streak == 3


def test_days_of_23_and_25_hours_are_days():
    # Clocks in Berlin went forward on 29 March 2026 and went back on 25 October 2026.
    for middle in (date(2026, 3, 29), date(2026, 10, 25)):
        noons = [datetime(2026, middle.month, middle.day, 12, tzinfo=BERLIN) + timedelta(days=n) for n in (-1, 0, 1)]
        late = [noon.replace(hour=23, minute=59) for noon in noons]
        for sent in (noons, late):
            assert count_days(sent, late[-1], BERLIN).streak == 3


def test_the_same_moments_can_be_a_streak_in_one_zone_only():
    # 13:00 UTC is past midnight in Auckland.
    sent = [at("2026-01-04 12:00"), at("2026-01-05 10:00"), at("2026-01-05 13:00")]
    assert count_days(sent, at("2026-01-05 14:00"), UTC).streak == 2
    assert count_days(sent, at("2026-01-05 14:00"), AUCKLAND).streak == 2
    assert count_days(sent[1:], at("2026-01-05 14:00"), UTC).streak == 1
    assert count_days(sent[1:], at("2026-01-05 14:00"), AUCKLAND).streak == 2


def test_nothing_sent_is_no_streak():
    assert count_days([], at("2026-01-05 10:00"), UTC).streak == 0


async def test_ones_own_runs_and_attempts_count_and_rejudges_do_not(each_database):
    async with each_database.writing() as session:
        session.add_all([UserRow(id=user.id, name=user.name, role="student", created_at=now()) for user in (ADA, BOB)])
    first = await hand_in(each_database, ADA, accepted(None, scored=False), kind="run")
    last = await hand_in(each_database, ADA, accepted(None))
    await hand_in(each_database, ADA, accepted(None, scored=False), kind="rejudge")
    await hand_in(each_database, BOB, accepted(None))
    found = await days(each_database, ADA, last, UTC)
    assert sum(found.sent.values()) == 2
    assert found.today == last.date()
    later = await days(each_database, ADA, first + timedelta(weeks=54), UTC)
    assert later.sent == {}
