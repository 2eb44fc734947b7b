"""Draws the schedule of a computation on a chip: above, what computes; below, which collectives are in flight."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import zip_longest

from markupsafe import Markup

from app.core.web.svg import drawing, element
from app.core.web.units import exact_text, flops_text
from app.presentation.drawings.placement import label
from app.presentation.drawings.schedule_copies import copies_text, draw_copies
from app.presentation.drawings.timeline import axes_text, kind_number, sent_text
from grader.explorer.exploration import ChipCollective, ChipComputation, ChipStep

MAX_STEPS = 150
# The compiler estimates no collective, so each has the same width where it is waited for.
_WIDTH, _WAIT, _THINNEST, _SMALL = 300.0, 12.0, 1.5, 3.0
_NAMES, _ROW, _NAME, _GAP = 14.0, 18.0, 12.0, 3.0
# The widest character of a name, and the space after it.
_CHARACTER, _AFTER = 5.2, 6.0


def draw_schedule(title: str, computation: ChipComputation, *, has_streams: bool = False) -> Markup | None:
    """The first steps in their order, as wide as their cycles, or their FLOPs if the compiler estimates no cycles.

    Args:
      has_streams: it is a GPU's, which runs kernels and synchronous collectives in one stream, and asynchronous
        collectives in another.
    Returns:
      None if there is no collective among them, and no copy.
    """
    steps = computation.steps[:MAX_STEPS]
    merged = _merged(computation.collectives)
    collectives = [each for each in merged if max(each.start, each.done or 0) < len(steps)]
    if not (collectives or computation.copies):
        return None
    communicates = {at for each in collectives for at in (each.start, each.done)}
    places = _places(steps, communicates)
    # A GPU runs a synchronous collective in the stream of its kernels.
    among_kernels = [each for each in collectives if has_streams and each.done == each.start]
    lanes = _lanes([each for each in collectives if each not in among_kernels], places)
    above, below = ("compute stream", "stream of collectives") if has_streams else ("computes", "communicates")
    shapes = [element("text", above, x=0, y=10, class_="name")]
    y = _NAMES
    for number, ((left, width), step) in enumerate(zip(places, steps, strict=True)):
        if step.cycles or number not in communicates:
            rectangle = element("rect", x=left, y=y, width=width, height=_ROW, class_="block step")
            shapes.append(element("g", element("title", step_text(step)), rectangle))
    shapes += _bars(among_kernels, places, y)
    y += _ROW + _GAP + (_NAME if among_kernels else 0)
    if lanes:
        shapes.append(element("text", below, x=0, y=y + 10, class_="name"))
        y += _NAMES
    for number, lane in enumerate(lanes):
        shapes += _bars(lane, places, y + number * (_ROW + _NAME + _GAP))
    y += len(lanes) * (_ROW + _NAME + _GAP)
    if computation.copies:
        shapes.append(element("text", "copies between memories", x=0, y=y + 10, class_="name"))
        y += _NAMES
        marks, height = draw_copies(computation.copies, places, y)
        shapes += marks
        y += height + _GAP
    longest = max((_span(each, places)[0] + _length(each) for each in collectives), default=0.0)
    width = max(sum(places[-1]), longest, 150.0)
    waits = sum(not is_hidden(each) for each in collectives)
    described = f"{len(collectives)} collectives. The chip is idle during {waits} of them. The table lists them."
    described += f" {copies_text(computation.copies)}." if computation.copies else ""
    return drawing("timeline", width, y, title, described, *shapes)


def step_text(step: ChipStep) -> str:
    """What a step does, and where it comes from."""
    parts = [f"{exact_text(step.cycles)} cycles" if step.cycles else "no estimate"]
    if step.flops:
        parts.append(flops_text(step.flops))
    if step.line:
        parts.append(f"line {step.line}")
    return ", ".join(parts)


def is_hidden(each: ChipCollective) -> bool:
    """Whether anything is computed while it is in flight."""
    return each.done != each.start and bool(each.hidden_cycles or each.hidden_kernels)


def hidden_text(each: ChipCollective) -> str:
    """What is computed while it is in flight; empty if nothing is."""
    if not is_hidden(each):
        return ""
    if not each.hidden_cycles:
        work = _kernels(each.hidden_kernels)
    elif each.hidden_without_estimate:
        work = (
            f"{exact_text(each.hidden_cycles)} cycles and {_kernels(each.hidden_without_estimate)} without an estimate"
        )
    else:
        work = f"{exact_text(each.hidden_cycles)} cycles"
    work = f"{work}, {flops_text(each.hidden_flops)}" if each.hidden_flops else work
    if each.estimated_cycles is None:
        return work
    needed = exact_text(each.estimated_cycles)
    if each.queued_cycles:
        needed += f", after {exact_text(each.queued_cycles)} for others in flight,"
    if each.is_hidden_long_enough is None:
        return f"{work}; by their bandwidth, the links need {needed.rstrip(',')}"
    enough = "enough" if each.is_hidden_long_enough else "too few"
    return f"{work}, {enough} for the {needed} that the links need by their bandwidth"


def wait_text(each: ChipCollective) -> str:
    """How long everything else waits, if nothing is computed while it is in flight."""
    about = "" if each.estimated_cycles is None else f", about {exact_text(each.estimated_cycles)} cycles"
    return f"nothing (everything else waits{about})"


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{exact_text(count)} kernels"


def _merged(collectives: Sequence[ChipCollective]) -> list[ChipCollective]:
    """One entry for all lines of each collective."""
    sizes: Counter[int] = Counter()
    for number, each in enumerate(collectives):
        sizes[number if each.sent_with is None else each.sent_with] += each.ring_bytes
    return [
        each.model_copy(update={"ring_bytes": sizes[number]})
        for number, each in enumerate(collectives)
        if each.sent_with is None
    ]


def _places(steps: Sequence[ChipStep], communicates: Collection[int | None]) -> list[tuple[float, float]]:
    """Left edge and width of each step."""
    has_cycles = any(each.cycles for each in steps)
    works = [(each.cycles if has_cycles else each.flops) or 0 for each in steps]
    whole = sum(works) or 1
    places, left = [], 0.0
    for number, work in enumerate(works):
        shown = _WAIT if number in communicates or has_cycles else _SMALL
        width = max(_WIDTH * work / whole, _THINNEST if has_cycles else _SMALL) if work else shown
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


def _bars(collectives: Sequence[ChipCollective], places: Sequence[tuple[float, float]], y: float) -> list[Markup]:
    """One bar for each collective of a lane. A name that would lie over the next one is left out, because the colour
    and the title of its bar say it, too.
    """
    bars = []
    named_to = 0.0
    ordered = sorted(collectives, key=lambda each: each.start)
    for each, following in zip_longest(ordered, ordered[1:]):
        left, _ = _span(each, places)
        room = math.inf if following is None else _span(following, places)[0] - left
        is_named = left >= named_to and (_length(each) <= room or each.collective == following.collective)
        if is_named:
            named_to = left + _length(each)
        bars.append(_bar(each, places, y, is_named=is_named))
    return bars


def _length(each: ChipCollective) -> float:
    return len(label(each.collective)) * _CHARACTER + _AFTER


def _bar(each: ChipCollective, places: Sequence[tuple[float, float]], y: float, *, is_named: bool) -> Markup:
    left, right = _span(each, places)
    over = f" over {axes_text(each.axes)}" if each.axes else ""
    work = hidden_text(each)
    hides = f"hidden by {work}" if work else "everything waits for it"
    shapes = [
        element("title", f"{label(each.collective)}{over}, {sent_text(1, each.ring_bytes)}: {hides}"),
        element(
            "rect", x=left, y=y, width=right - left, height=_ROW, class_=f"block kind-{kind_number(each.collective)}"
        ),
    ]
    if is_named:
        shapes.append(element("text", label(each.collective), x=left, y=y + _ROW + 10, class_="code"))
    return element("g", *shapes)
