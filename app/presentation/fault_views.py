"""What is wrong, beside what is expected: two shapes as boxes, or two amounts as bars on one scale."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import bytes_text, exact_text, flops_text
from app.presentation.drawings.bars import draw_length, is_over, is_under
from app.presentation.drawings.placement import label
from app.presentation.drawings.shapes import (
    Shape,
    draw_shape,
    drawn_sides,
    is_to_scale,
    odd_dims,
    shape_words,
)
from grader.verdicts.evidence import Amount, Evidence, FailedCase, Fault, Limit, ShapePair

_IN_WORDS = {"bytes": bytes_text, "operations": flops_text}


@dataclass(frozen=True, slots=True)
class ShapesView:
    """Two shapes of one array. `name` is empty if the result is a single array; `words` say which dimensions differ."""

    name: str
    expected_text: Markup
    got_text: Markup
    expected: Markup
    got: Markup
    words: str
    notes: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One of the bars, with its number: short, and exact in its tooltip."""

    name: str
    text: str
    exact: str
    drawing: Markup
    fault: str


@dataclass(frozen=True, slots=True)
class BarsView:
    """One quantity that is out of bounds. `bounds` says which lines the bars have."""

    name: str
    bars: tuple[Bar, ...]
    bounds: str


def view_shapes(name: str, expected: Shape, got: Shape) -> ShapesView:
    """Draw both shapes as boxes, and mark the dimensions that differ."""
    missing, odd = odd_dims(expected, got)
    due, found = drawn_sides(expected, got)
    scale = [*(expected[dim] for dim in due), *(got[dim] for dim in found)]
    title = f"{name or 'result'} of shape"
    return ShapesView(
        name=name,
        expected_text=_text(expected, missing),
        got_text=_text(got, odd),
        expected=draw_shape(expected, due, scale, missing, title=f"{title} {label(str(expected))}, expected"),
        got=draw_shape(got, found, scale, odd, title=f"{title} {label(str(got))}, yours"),
        words=shape_words(expected, got),
        notes="" if is_to_scale(scale) else "Short sides are drawn longer than to scale.",
    )


def shapes_of(evidence: Iterable[Evidence]) -> ShapesView | None:
    """The first array that a case or a fault reports with another shape."""
    for entry in evidence:
        pair = _pair(entry)
        if pair is not None:
            return view_shapes(label(pair.leaf), pair.expected, pair.got)
    return None


def view_bars(row: Amount | Limit, unit: str) -> BarsView:
    """Draw what the program has over what the reference has, or else over the bound."""
    in_words = _IN_WORDS.get(unit, exact_text)
    mine = row.mine or 0
    fault = "too much" if is_over(row) else "too little" if is_under(row) else ""
    bounds = {"At most": row.at_most, "At least": row.at_least}
    limits = {name: bound for name, bound in bounds.items() if bound is not None}
    broken = {name: bound for name, bound in limits.items() if (name == "At most") == (fault == "too much")}
    other = {"Reference": row.reference} if row.reference is not None else broken
    most = max(mine, *limits.values(), *other.values(), 1)

    def bar(name: str, value: int, kind: str, fault: str = "") -> Bar:
        picture = draw_length(value, most, kind=kind, bounds=broken.values())
        return Bar(name, in_words(value), exact_text(value), picture, fault)

    bars = [bar("Yours", mine, "bar-mine is-outside" if fault else "bar-mine", fault)]
    bars += [bar(name, value, "bar-reference") for name, value in other.items()]
    words = [f"{name.lower()} {in_words(bound)}" for name, bound in broken.items() if name not in other]
    return BarsView(label(row.name), tuple(bars), f"The line: {' and '.join(words)}." if words else "")


def _pair(entry: Evidence) -> ShapePair | None:
    match entry:
        case FailedCase():
            found = entry.difference or entry.fault
            return found.shapes if found else None
        case Fault():
            return entry.shapes
    return None


def _text(shape: Shape, odd: Collection[int]) -> Markup:
    """`(64, 32)`, with the odd dimensions marked. A long one is cut."""
    text = str(shape)
    if label(text) != text:
        return Markup("{}").format(label(text))
    marked = [Markup('<b class="differs">{}</b>' if dim in odd else "{}").format(n) for dim, n in enumerate(shape)]
    return Markup("({}{})").format(Markup(", ").join(marked), "," if len(shape) == 1 else "")
