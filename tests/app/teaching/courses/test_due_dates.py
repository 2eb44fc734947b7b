"""Local times of a course, through each change of the clocks, and how much a late attempt counts."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import FieldInvalid
from app.teaching.courses.due_dates import (
    check_time_zone,
    closes_at,
    credit,
    from_local,
    is_over,
    time_zones,
    to_local,
)
from app.teaching.courses.errors import AssignmentInvalid, TimeZoneNotFound

ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])
LOCAL = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1)).map(lambda each: each.replace(second=0, microsecond=0))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "is_due", "expected"),
    [
        ("2026-01-19T23:59", True, "2026-01-19T22:59"),
        ("2026-07-19T23:59", True, "2026-07-19T21:59"),
        ("2026-03-29T02:30", False, "2026-03-29T01:30"),  # skipped: 03:30 on the new clocks
        ("2026-03-29T02:30", True, "2026-03-29T01:30"),
        ("2026-10-25T02:30", False, "2026-10-25T00:30"),  # twice: the first one opens
        ("2026-10-25T02:30", True, "2026-10-25T01:30"),  # and the second one is due
    ],
)
def test_what_the_clocks_of_berlin_show(text, is_due, expected):
    assert from_local("due", text, "Europe/Berlin", is_due=is_due) == utc(expected)


@given(local=LOCAL, zone=ZONES, is_due=st.booleans())
def test_a_time_that_exists_comes_back_and_a_skipped_one_is_later(local, zone, is_due):
    moment = from_local("due", local.isoformat(timespec="minutes"), zone, is_due=is_due)
    shown = to_local(moment, zone).replace(tzinfo=None)
    assert shown >= local
    if shown != local:
        # No moment at all has this local time.
        nearby = (moment + timedelta(minutes=30 * step) for step in range(-8, 9))
        assert all(to_local(each, zone).replace(tzinfo=None) != local for each in nearby)


@given(local=LOCAL, zone=ZONES)
def test_a_deadline_is_never_before_the_same_time_as_an_opening(local, zone):
    text = local.isoformat(timespec="minutes")
    opens, due = (from_local("x", text, zone, is_due=is_due) for is_due in (False, True))
    assert timedelta(0) <= due - opens <= timedelta(hours=1)


# Moments at which clocks change, found by looking: the offset before differs from the one after.
def changes_of(zone: str) -> list[datetime]:
    there = ZoneInfo(zone)
    hours = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=each) for each in range(2 * 365 * 24))
    return [
        each
        for each in hours
        if (each - timedelta(hours=1)).astimezone(there).utcoffset() != each.astimezone(there).utcoffset()
    ]


CHANGING = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca"]
CHANGES = st.sampled_from([(zone, each) for zone in CHANGING for each in changes_of(zone)])
AROUND = st.integers(-180, 180).map(lambda minutes: timedelta(minutes=minutes))


@given(change=CHANGES, around=AROUND, is_due=st.booleans())
def test_around_a_change_every_local_time_is_one_moment_and_nobody_loses_time(change, around, is_due):
    zone, moment = change
    shown = to_local(moment + around, zone).replace(tzinfo=None)
    found = from_local("due", shown.isoformat(timespec="minutes"), zone, is_due=is_due)
    # The local time that a clock showed then is shown at the moment that was found, too.
    assert to_local(found, zone).replace(tzinfo=None) == shown
    same = [
        each
        for each in (
            found - timedelta(hours=1),
            found - timedelta(minutes=30),
            found + timedelta(minutes=30),
            found + timedelta(hours=1),
        )
        if to_local(each, zone).replace(tzinfo=None) == shown
    ]
    # Of two moments with this local time, a deadline is the later one, and an opening the earlier one.
    assert all((each < found) is is_due for each in same)


@given(change=CHANGES, around=AROUND)
def test_around_a_change_a_skipped_time_is_moved_by_the_gap(change, around):
    zone, moment = change
    before, after = (to_local(moment + timedelta(hours=each), zone).utcoffset() for each in (-2, 2))
    local = to_local(moment - timedelta(hours=2), zone).replace(tzinfo=None) + timedelta(hours=2) + around
    found = from_local("due", local.isoformat(timespec="minutes"), zone, is_due=True)
    shift = to_local(found, zone).replace(tzinfo=None) - local
    assert shift in {timedelta(0), after - before}


@given(
    change=CHANGES,
    around=AROUND,
    before=st.integers(0, 2),
    late=st.integers(0, 60 * 24 * 3),
    percent=st.integers(1, 100),
)
def test_around_a_change_a_day_late_ends_at_the_local_time_of_the_deadline(change, around, before, late, percent):
    zone, moment = change
    local = to_local(moment + around - timedelta(days=before), zone).replace(tzinfo=None)
    due = from_local("due", local.isoformat(timespec="minutes"), zone, is_due=True)
    sent = due + timedelta(minutes=late)
    # The same deadline on each of the following days, as an instructor would enter it.
    ends = [
        from_local("due", (local + timedelta(days=each)).isoformat(timespec="minutes"), zone, is_due=True)
        for each in range(6)
    ]
    days = sum(is_over(each, sent) for each in ends)
    assert credit(sent, due, percent, zone) == max(0, 100 - percent * days)
    assert credit(sent, due, None, zone) == (100 if late == 0 else 0)
    # When nothing counts any more, nothing counts; and a moment before, something still may.
    closed = closes_at(due, percent, zone)
    assert credit(closed + timedelta(minutes=1), due, percent, zone) == 0
    assert credit(closed - timedelta(days=1, hours=2), due, percent, zone) > 0


@pytest.mark.parametrize(
    ("due", "sent", "expected"),
    [
        # The clocks of Berlin go back in the night to 25 October, a day of 25 hours, and forward in that to 29 March.
        ("2026-10-24T23:59", "2026-10-25T23:59", 90),
        ("2026-10-24T23:59", "2026-10-26T00:00", 80),
        ("2026-10-24T23:59", "2026-10-31T23:59", 30),
        ("2026-03-28T23:59", "2026-03-29T23:59", 90),
        ("2026-03-28T23:59", "2026-03-30T00:00", 80),
        ("2026-03-28T23:59", "2026-04-04T23:59", 30),
        # 02:30 is skipped on the second day, and is there twice on the other one.
        ("2026-03-28T02:30", "2026-03-29T03:30", 90),
        ("2026-03-28T02:30", "2026-03-29T03:31", 80),
        ("2026-10-24T02:30", "2026-10-25T02:30", 90),
        ("2026-10-24T02:30", "2026-10-25T02:31", 80),
    ],
)
def test_a_day_late_in_berlin_when_the_clocks_change(due, sent, expected):
    due_at, sent_at = (from_local("due", each, "Europe/Berlin", is_due=True) for each in (due, sent))
    assert credit(sent_at, due_at, 10, "Europe/Berlin") == expected


@pytest.mark.parametrize("text", ["", "2026-01-19", "2026-01-19T25:00", "2026-01-19T23:59+01:00", "1999-01-01T00:00"])
def test_another_form_is_refused(text):
    with pytest.raises(FieldInvalid, match="such as 2026-10-25T23:59"):
        from_local("due", text, "UTC", is_due=True)


def test_a_day_that_there_is_not_is_refused():
    with pytest.raises(AssignmentInvalid, match="the calendar has no 2026-02-30"):
        from_local("due", "2026-02-30T10:00", "UTC", is_due=True)


def test_every_zone_that_can_be_chosen_exists():
    assert {"Europe/Berlin", "UTC"} <= set(time_zones())
    for name in time_zones():
        ZoneInfo(check_time_zone(name))
    for name in ("", "Mars/Olympus", "../etc/passwd", "europe/berlin"):
        with pytest.raises(TimeZoneNotFound):
            check_time_zone(name)


@pytest.mark.parametrize(
    ("late_s", "percent", "expected"),
    [
        (-1, None, 100),
        (0, None, 100),
        (59.9, None, 100),
        (60, None, 0),
        (59.9, 10, 100),
        (60, 10, 90),
        (86_459.9, 10, 90),
        (86_460, 10, 80),
        (864_060, 10, 0),
    ],
)
def test_each_day_that_has_begun_costs_its_percentage(late_s, percent, expected):
    due = utc("2026-10-24T21:59")
    assert credit(due + timedelta(seconds=late_s), due, percent, "UTC") == expected


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(1, 100))
def test_later_never_counts_more(one, other, percent):
    due = utc("2026-01-19T22:59")
    first, second = (
        credit(due + timedelta(seconds=each), due, percent, "Europe/Berlin") for each in sorted((one, other))
    )
    assert 100 >= first >= second >= 0
