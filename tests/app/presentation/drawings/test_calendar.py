"""The calendar of half a year."""

from datetime import date, timedelta

import pytest

from app.presentation.drawings.calendar import WEEKS, draw_calendar, level_of

MONDAY = date(2026, 3, 30)


@pytest.mark.parametrize(("count", "level"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (999, 4)])
def test_a_day_is_darker_the_more_was_sent(count, level):
    assert level_of(count) == level


@pytest.mark.parametrize("weekday", range(7))
def test_it_ends_today_and_holds_whole_weeks_before(weekday):
    today = MONDAY + timedelta(days=weekday)
    drawn = draw_calendar(today, {today: 3, today - timedelta(days=1): 1, today - timedelta(weeks=60): 9})
    assert drawn.count('class="day ') == (WEEKS - 1) * 7 + weekday + 1
    assert f"on 2 of the last {(WEEKS - 1) * 7 + weekday + 1} days" in drawn
    assert drawn.count("is-today") == 1
    assert f"{today:%-d %b %Y}: 3" in drawn


def test_each_month_is_named_once():
    assert draw_calendar(MONDAY, {}).count(">Jan<") == 1
