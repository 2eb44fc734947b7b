"""The days of half a year in one column per week; a darker day had more runs and attempts."""

from collections.abc import Mapping
from datetime import date, timedelta

from markupsafe import Markup

from app.core.web.svg import element

WEEKS = 26
_CELL, _STEP = 13, 16
_LEFT, _TOP = 32, 18
# From so many on, a day has the next darker colour.
_LEVELS = (1, 2, 4, 8)
_DAY = timedelta(days=1)


def draw_calendar(today: date, sent: Mapping[date, int]) -> Markup:
    """Monday is the top row. Today is outlined, and days after it are not drawn."""
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    days = [first + n * _DAY for n in range((today - first).days + 1)]
    shapes = [
        element("text", name, x=0, y=_TOP + row * _STEP + 10, class_="axis")
        for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))
    ]
    shapes += [
        element("text", f"{day:%b}", x=_LEFT + (day - first).days // 7 * _STEP, y=11, class_="axis")
        for day in days
        if day.day <= 7 and day.weekday() == 0
    ]
    shapes += [_cell(day, first, sent.get(day, 0), is_today=day == today) for day in days]
    on = sum(day in sent for day in days)
    return element(
        "svg",
        element("title", f"Something was sent on {on} of the last {len(days)} days."),
        *shapes,
        class_="drawing calendar",
        role="img",
        viewBox=f"0 0 {_LEFT + WEEKS * _STEP} {_TOP + 7 * _STEP}",
        width=(_LEFT + WEEKS * _STEP) * 1.35,
        height=(_TOP + 7 * _STEP) * 1.35,
    )


def level_of(count: int) -> int:
    """0 for nothing, then 1 to 4."""
    return sum(count >= least for least in _LEVELS)


def _cell(day: date, first: date, count: int, *, is_today: bool) -> Markup:
    week, row = divmod((day - first).days, 7)
    return element(
        "rect",
        element("title", f"{day:%-d %b %Y}: {count}"),
        x=_LEFT + week * _STEP,
        y=_TOP + row * _STEP,
        width=_CELL,
        height=_CELL,
        rx=2,
        class_=f"day level-{level_of(count)}" + (" is-today" if is_today else ""),
    )
