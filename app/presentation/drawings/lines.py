"""Lines over a doubling axis: efficiency, bytes or seconds by devices. A table beside it has the same numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.svg import element

_WIDTH, _HEIGHT = 460, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 118, 14, 40
_LETTERS = 20
_APART = 13


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `points` are x, y and y as text."""

    label: str
    points: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """`ticks` are values of y with their texts, from the lowest to the highest. `here` is the reader's own point."""

    title: str
    description: str
    x_label: str
    x_ticks: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    lines: tuple[Line, ...]
    logarithmic: bool
    here: tuple[float, float] | None = None


def draw_chart(chart: Chart) -> Markup:
    """x is logarithmic. Each line has its name at its end, and its own colour and dash."""
    shapes = [element("path", d=f"M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}", class_="base")]
    for value, text in chart.ticks:
        y = _y(chart, value)
        shapes.append(element("path", d=f"M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}", class_="grid"))
        shapes.append(element("text", text, x=_LEFT - 6, y=y + 4, class_="label"))
    for value, text in chart.x_ticks:
        shapes.append(element("text", text, x=_x(chart, value), y=_HEIGHT - _BOTTOM + 15, class_="times"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    shapes.append(element("text", chart.x_label, x=middle, y=_HEIGHT - 6, class_="times"))
    names = _spread([_y(chart, line.points[-1][1]) for line in chart.lines])
    for number, (line, name_y) in enumerate(zip(chart.lines, names, strict=True), 1):
        shapes += _line(chart, line, number, name_y)
    if chart.here:
        x, y = _x(chart, chart.here[0]), _y(chart, chart.here[1])
        shapes.append(element("circle", element("title", "Your inputs"), cx=x, cy=y, r=5, class_="here"))
    return element(
        "svg",
        element("title", chart.title),
        element("desc", chart.description),
        *shapes,
        class_="drawing chart",
        role="img",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH * 1.35,
        height=_HEIGHT * 1.35,
    )


def ticks_of(low: float, high: float, *, logarithmic: bool, base: int) -> list[float]:
    """At most six values for marks on an axis, around those that are drawn. `base` is 10, or 2 for bytes."""
    if logarithmic and low > 0:
        step = 1
        first, last = math.floor(math.log(low, base)), math.ceil(math.log(high, base))
        while (last - first) / step > 5:
            step += 1
        return [float(base) ** power for power in range(first, last + step, step)]
    rough = high / 4 or 1.0
    unit = float(base) ** math.floor(math.log(rough, base))
    size = next((unit * each for each in (1, 2, 2.5, 5) if unit * each >= rough), unit * 10)
    return [size * number for number in range(math.ceil(high / size) + 1)] if high else [0.0, 1.0]


def _line(chart: Chart, line: Line, number: int, name_y: float) -> list[Markup]:
    places = [(_x(chart, x), _y(chart, y)) for x, y, _ in line.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    end_x, end_y = places[-1]
    leader = f"M{end_x + 2:.1f} {end_y:.1f}L{_WIDTH - _RIGHT + 8} {name_y:.1f}"
    name = line.label if len(line.label) <= _LETTERS else line.label[: _LETTERS - 1] + "…"
    return [
        element("path", d=path, class_=f"line line-{number}"),
        element("path", d=leader, class_=f"leader line-{number}"),
        element("text", name, x=_WIDTH - _RIGHT + 11, y=name_y + 4, class_=f"name name-{number}"),
    ]


def _spread(heights: Sequence[float]) -> list[float]:
    """Moves overlapping names apart, and keeps them inside the drawing."""
    order = sorted(range(len(heights)), key=lambda each: heights[each])
    lowest = _HEIGHT - _BOTTOM
    found = dict.fromkeys(order, 0.0)
    above = _TOP - _APART + 4.0
    for place, each in enumerate(order):
        room = lowest - (len(order) - 1 - place) * _APART
        above = found[each] = min(max(heights[each], above + _APART), room)
    return [found[each] for each in range(len(heights))]


def _x(chart: Chart, value: float) -> float:
    low, high = chart.x_ticks[0][0], chart.x_ticks[-1][0]
    share = math.log(value / low) / math.log(high / low) if high > low else 0.0
    return _LEFT + share * (_WIDTH - _RIGHT - _LEFT)


def _y(chart: Chart, value: float) -> float:
    low, high = chart.ticks[0][0], chart.ticks[-1][0]
    if chart.logarithmic:
        share = math.log(max(value, low) / low) / math.log(high / low) if high > low else 0.0
    else:
        share = (value - low) / (high - low)
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)
