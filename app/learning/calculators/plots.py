"""The plot of a calculator for some inputs: what its lines are, and the same numbers as a table."""

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from app.learning.calculators.calculator import Calculator, Choice, Output, Values
from app.learning.calculators.formulas.impossible_inputs import Impossible
from app.learning.calculators.units import short_text
from app.presentation.drawings.lines import Chart, Line, draw_chart, ticks_of


@dataclass(frozen=True, slots=True)
class Plotted:
    """`rows` are x and the text of each line there; empty where nothing can be computed."""

    drawing: Markup
    title: str
    x_label: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def plot_of(calculator: Calculator, values: Values) -> Plotted | None:
    """None if no two points of any line can be computed."""
    plot = calculator.plot
    lines = [line for line in _lines(calculator, values) if len(line.points) > 1]
    if not lines:
        return None
    output = _output(calculator, plot.outputs[0])
    heights = [y for line in lines for _, y, _ in line.points]
    positive = [y for y in heights if y > 0]
    logarithmic = plot.logarithmic and len(positive) == len(heights)
    low, high = min(heights), max(heights)
    base = 2 if output.unit == "bytes" else 10
    marks = ticks_of(low, high, logarithmic=logarithmic, base=base)
    if output.unit == "percent" and high <= 1:
        marks = [0, 0.25, 0.5, 0.75, 1.0]
    xs = sorted({x for line in lines for x, _, _ in line.points})
    shown = xs if len(xs) <= 6 else xs[:: (len(xs) + 4) // 5]
    if shown[-1] != xs[-1]:
        shown = [*shown[:-1], xs[-1]]
    label = next(each.label for each in calculator.inputs if each.name == plot.over)
    names = tuple(line.label for line in lines)
    chart = Chart(
        title=plot.title,
        description=f"{plot.title} over {label.lower()}, from {xs[0]:g} to {xs[-1]:g}: {', '.join(names)}. "
        "The table below has the numbers.",
        x_label=label,
        x_ticks=tuple((x, f"{x:g}") for x in shown),
        ticks=tuple((mark, short_text(mark, output.unit)) for mark in marks),
        lines=tuple(lines),
        logarithmic=logarithmic,
        here=_here(calculator, values, xs),
    )
    texts = [{x: text for x, _, text in line.points} for line in lines]
    rows = tuple((f"{x:,.0f}", tuple(each.get(x, "") for each in texts)) for x in xs)
    return Plotted(draw_chart(chart), plot.title, label, names, rows)


def _lines(calculator: Calculator, values: Values) -> Iterator[Line]:
    plot = calculator.plot
    if not plot.by:
        for name in plot.outputs:
            yield _line(calculator, values, name, _output(calculator, name).label)
        return
    by = next(each for each in calculator.inputs if each.name == plot.by)
    assert isinstance(by, Choice)
    for value, label in by.options:
        short = label.partition(":")[0]
        yield _line(calculator, {**values, plot.by: value}, plot.outputs[0], short)


def _line(calculator: Calculator, values: Values, name: str, label: str) -> Line:
    plot, unit = calculator.plot, _output(calculator, name).unit
    points = []
    x = plot.first
    while x <= plot.last:
        try:
            y = calculator.results({**values, plot.over: x})[name]
        except Impossible:
            pass
        else:
            points.append((float(x), float(y), short_text(y, unit)))
        x *= 2
    return Line(label, tuple(points))


def _here(calculator: Calculator, values: Values, xs: list[float]) -> tuple[float, float] | None:
    plot = calculator.plot
    x = float(values[plot.over])
    if not xs[0] <= x <= xs[-1]:
        return None
    return x, float(calculator.results(values)[plot.outputs[0]])


def _output(calculator: Calculator, name: str) -> Output:
    return next(each for each in calculator.outputs if each.name == name)
