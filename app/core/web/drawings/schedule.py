"""Draws the schedule of a computation on a TPU: above, what computes; below, which collectives are in flight."""

from collections.abc import Sequence

from markupsafe import Markup

from app.core.web.drawings.placement import label
from app.core.web.drawings.svg import drawing, element
from app.core.web.drawings.timeline import axes_text, kind_number
from app.core.web.drawings.units import bytes_text, exact_text, flops_text
from grader.explorer.exploration import ChipCollective, ChipComputation, ChipStep

MAX_STEPS = 150
# Abbreviations from the documentation of JAX and XLA. Other kinds are drawn with their first letters.
_CODES = {
    "all-gather": "AG",
    "all-reduce": "AR",
    "reduce-scatter": "RS",
    "all-to-all": "A2A",
    "collective-permute": "CP",
}
# The compiler estimates no collective, so each has the same width where it is waited for.
_WIDTH, _WAIT, _THINNEST = 300.0, 12.0, 1.5
_NAMES, _ROW, _CODE, _GAP = 14.0, 18.0, 12.0, 3.0


def draw_schedule(title: str, computation: ChipComputation) -> Markup | None:
    """The first steps in their order, as wide as their cycles; None if there is no collective among them."""
    steps = computation.steps[:MAX_STEPS]
    collectives = [each for each in computation.collectives if max(each.start, each.done or 0) < len(steps)]
    if not collectives:
        return None
    places = _places(steps)
    lanes = _lanes(collectives, places)
    shapes = [element("text", "computes", x=0, y=10, class_="name")]
    y = _NAMES
    for (left, width), step in zip(places, steps, strict=True):
        if step.cycles:
            rectangle = element("rect", x=left, y=y, width=width, height=_ROW, class_="block step")
            shapes.append(element("g", element("title", step_text(step)), rectangle))
    y += _ROW + _GAP
    shapes.append(element("text", "communicates", x=0, y=y + 10, class_="name"))
    y += _NAMES
    for number, lane in enumerate(lanes):
        shapes += [_bar(each, places, y + number * (_ROW + _CODE + _GAP)) for each in lane]
    y += len(lanes) * (_ROW + _CODE + _GAP)
    width = max(sum(places[-1]), 150.0)
    waits = sum(each.done == each.start for each in collectives)
    described = f"{len(collectives)} collectives. The chip is idle during {waits} of them. The table lists them."
    return drawing("timeline", width, y, title, described, *shapes)


def step_text(step: ChipStep) -> str:
    """What a step does, and where it comes from."""
    parts = [f"{exact_text(step.cycles)} cycles" if step.cycles else "not estimated"]
    if step.flops:
        parts.append(flops_text(step.flops))
    if step.line:
        parts.append(f"line {step.line}")
    return ", ".join(parts)


def _places(steps: Sequence[ChipStep]) -> list[tuple[float, float]]:
    """Left edge and width of each step."""
    cycles = sum(each.cycles or 0 for each in steps) or 1
    places, left = [], 0.0
    for each in steps:
        width = max(_WIDTH * each.cycles / cycles, _THINNEST) if each.cycles else _WAIT
        places.append((left, width))
        left += width
    return places


def _span(each: ChipCollective, places: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """From its start to the end of the wait for it."""
    last = places[-1] if each.done is None else places[each.done]
    return places[each.start][0], sum(last)


def _lanes(collectives: Sequence[ChipCollective], places: Sequence[tuple[float, float]]) -> list[list[ChipCollective]]:
    """As few lanes as possible, one for each collective that is in flight at the same time."""
    lanes: list[list[ChipCollective]] = []
    ends: list[float] = []
    for each in sorted(collectives, key=lambda each: each.start):
        left, right = _span(each, places)
        free = next((number for number, end in enumerate(ends) if end <= left), None)
        if free is None:
            lanes.append([each])
            ends.append(right)
        else:
            lanes[free].append(each)
            ends[free] = right
    return lanes


def _bar(each: ChipCollective, places: Sequence[tuple[float, float]], y: float) -> Markup:
    left, right = _span(each, places)
    over = f" over {axes_text(each.axes)}" if each.axes else ""
    hides = (
        "everything waits for it" if each.done == each.start else f"hidden by {exact_text(each.hidden_cycles)} cycles"
    )
    bar = element(
        "rect", x=left, y=y, width=right - left, height=_ROW, class_=f"block kind-{kind_number(each.collective)}"
    )
    shapes = [element("title", f"{label(each.collective)}{over}, {bytes_text(each.bytes)}: {hides}"), bar]
    shapes.append(
        element(
            "text",
            _CODES.get(each.collective, each.collective[:3].upper()),
            x=(left + right) / 2,
            y=y + _ROW + 10,
            class_="code",
        )
    )
    return element("g", *shapes)
