"""Draws the copies between a chip's memories below its schedule, as thin marks, because there can be hundreds."""

from collections.abc import Sequence

from markupsafe import Markup

from app.core.web.svg import element
from app.core.web.units import bytes_text, exact_text
from grader.explorer.exploration import ChipCopy

# Copies at the same time are in lanes. Those beyond the last lane share it.
_MARK, _GAP, _LANES, _THINNEST = 2.0, 1.0, 8, 1.5


def draw_copies(
    copies: Sequence[ChipCopy], places: Sequence[tuple[float, float]], top: float
) -> tuple[list[Markup], float]:
    """Marks from where each copy starts to where something waits for it, and the height of their lanes.

    Args:
      places: left edge and width of each step that is drawn.
    """
    edges = [left for left, _ in places] + [sum(places[-1])] if places else [0.0]
    ends: list[float] = []
    marks = []
    for each in sorted(copies, key=lambda each: each.start):
        if each.start >= len(edges):
            continue
        left = edges[each.start]
        right = max(edges[-1] if each.done is None else edges[min(each.done, len(places))], left + _THINNEST)
        lane = next((number for number, end in enumerate(ends) if end <= left), len(ends))
        if lane == len(ends) < _LANES:
            ends.append(right)
        lane = min(lane, _LANES - 1)
        ends[lane] = max(ends[lane], right)
        y = top + lane * (_MARK + _GAP)
        mark = element("rect", x=left, y=y, width=right - left, height=_MARK, class_="block copy")
        marks.append(element("g", element("title", _title(each)), mark))
    return marks, len(ends) * (_MARK + _GAP)


def copies_text(copies: Sequence[ChipCopy]) -> str:
    """`12 copies from HBM to on-chip memory, 33.0 MiB, and 1 copy from on-chip memory to HBM, 4.0 KiB`."""
    ways: dict[tuple[str, str], list[int]] = {}
    for each in copies:
        ways.setdefault((each.source, each.target), []).append(each.bytes)
    return ", and ".join(
        f"{exact_text(len(sizes))} {'copy' if len(sizes) == 1 else 'copies'} from {source} to {target}, "
        f"{bytes_text(sum(sizes))}"
        for (source, target), sizes in ways.items()
    )


def copy_hidden_text(each: ChipCopy) -> str:
    """What is computed while it is in flight; empty if nothing is."""
    if each.hidden_cycles:
        return f"{exact_text(each.hidden_cycles)} cycles"
    if each.hidden_kernels:
        return "1 kernel" if each.hidden_kernels == 1 else f"{exact_text(each.hidden_kernels)} kernels"
    return ""


def _title(each: ChipCopy) -> str:
    work = copy_hidden_text(each)
    line = f", for line {each.line}" if each.line else ""
    hides = f"hidden by {work}" if work else "nothing is computed meanwhile"
    return f"copy of {each.shape}, {bytes_text(each.bytes)}, from {each.source} to {each.target}{line}: {hides}"
