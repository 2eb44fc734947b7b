"""What a check measured, as short as a gauge: one quantity on each mesh, mine beside the reference's."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.web.drawings.bars import is_over
from app.web.drawings.placement import Mesh, label
from app.web.drawings.svg import element
from app.web.drawings.units import bytes_text, flops_text
from grader.evidence import Amount, Amounts, Collectives, Evidence, Leaves

MAX_READINGS = 2
_WIDTH, _BAR = 48.0, 4.0
_THINNEST = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """One quantity. `what` names it, and is empty if `mine` does.

    `against` says what `other` is: the reference's amount, or what a device would have if nothing were divided. `bound`
    is the most that the check accepts, empty if it sets no such bound.
    """

    mesh: str
    what: str
    mine: str
    against: str = ""
    other: str = ""
    bound: str = ""
    is_over: bool = False
    gauge: Markup | None = None


def readings_of(evidence: Sequence[Evidence]) -> tuple[Reading, ...]:
    """The first reading of each mesh, of the first few meshes."""
    found: dict[str, Reading] = {}
    for entry in evidence:
        match entry:
            case Amounts() | Collectives() | Leaves():
                mesh = ", ".join([str(Mesh.of(entry.mesh)), *map(label, entry.cases)])
                reading = _reading(entry, mesh)
                if reading is not None:
                    found.setdefault(mesh, reading)
    return tuple(found.values())[:MAX_READINGS]


def _reading(entry: Amounts | Collectives | Leaves, mesh: str) -> Reading | None:
    match entry:
        case Amounts():
            rows = [row for row in entry.rows if row.mine is not None]
            # Rows without a bound are there for information.
            graded = [row for row in rows if row.at_most is not None] or rows
            return _of_amount(max(graded, key=_times), entry, mesh) if graded else None
        case Collectives():
            mine = sum(each.mine.ring_bytes for each in entry.sums if each.mine)
            reference = sum(each.reference.ring_bytes for each in entry.sums if each.reference)
            texts = (bytes_text(mine), "reference", bytes_text(reference))
            return Reading(mesh, "sent by each device", *texts, gauge=_gauge(mine, reference))
        case Leaves():
            # A leaf goes in and comes out: it is right if both are.
            wrong = {leaf.path for leaf in entry.leaves if not leaf.ok}
            paths = {leaf.path for leaf in entry.leaves}
            return Reading(mesh, "", f"{len(paths - wrong)} of {len(paths)} leaves as expected") if paths else None


def _of_amount(row: Amount, entry: Amounts, mesh: str) -> Reading:
    in_words = bytes_text if entry.unit == "bytes" else flops_text
    other = _other(row)
    against = "reference" if row.reference is not None else label(entry.whole_title)
    name, mine = label(row.name), row.mine or 0
    if other is None:
        return Reading(mesh, name, in_words(mine))
    return Reading(
        mesh=mesh,
        what=name,
        mine=in_words(mine),
        against=against,
        other=in_words(other),
        bound="" if row.at_most is None else in_words(row.at_most),
        is_over=is_over(row),
        gauge=_gauge(mine, other, row.at_most),
    )


def _other(row: Amount) -> int | None:
    return row.whole if row.reference is None else row.reference


def _times(row: Amount) -> float:
    """How many times the reference's amount it is: the row that differs most says most."""
    other = _other(row)
    # Whole numbers of any length: a float could not hold them.
    return 0.0 if other is None else min((row.mine or 0) * 1000 // max(other, 1), 10**12) / 1000


def _gauge(mine: int, other: int, at_most: int | None = None) -> Markup:
    """Two bars, and a line for the bound. Only for the eye: the numbers are beside them."""
    most = max(mine, other, at_most or 0, 1)

    def length(amount: int) -> float:
        return max(_WIDTH * (amount * 1000 // most) / 1000, _THINNEST)

    over = at_most is not None and mine > at_most
    bars = [
        element("rect", x=0, y=y, width=length(amount), height=_BAR, class_=kind)
        for y, amount, kind in (
            (0, mine, "bar-mine is-over" if over else "bar-mine"),
            (_BAR + 1, other, "bar-reference"),
        )
    ]
    if at_most is not None:
        bars.append(element("path", d=f"M{length(at_most):g} 0v{2 * _BAR + 1:g}", class_="limit"))
    size = {"width": _WIDTH, "height": 2 * _BAR + 1}
    box = f"0 0 {_WIDTH:g} {2 * _BAR + 1:g}"
    return element("svg", *bars, class_="gauge", aria_hidden="true", viewBox=box, **size)
