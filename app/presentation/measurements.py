"""What a check measured, short enough for a gauge: one quantity per mesh, mine and the reference's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.svg import element
from app.core.web.units import bytes_text, exact_text, flops_text
from app.presentation.drawings.bars import is_over, is_under
from app.presentation.drawings.placement import Mesh, label
from grader.verdicts.evidence import Amount, Amounts, Collectives, Evidence, FailedCase, Leaves, Limit

MAX_MEASUREMENTS = 2
_WIDTH, _BAR = 48.0, 4.0
_THINNEST = 1.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """One quantity. `what` names it, and is empty if `mine` does.

    `against` says what `other` is: the reference's amount, or what a device would have if nothing were divided. `bound`
    says what the check accepts, such as `at most 2.0 KiB`, and is empty if it accepts everything.
    """

    mesh: str
    what: str
    mine: str
    against: str = ""
    other: str = ""
    bound: str = ""
    is_outside: bool = False
    gauge: Markup | None = None

    @property
    def in_words(self) -> str:
        """`sent by each device: 2.0 KiB, at most 1.0 KiB, reference 512 B`."""
        beside = f"{self.against} {self.other}" if self.against else ""
        return f"{self.what}{': ' * bool(self.what)}{', '.join(filter(None, (self.mine, self.bound, beside)))}"


def measurements_of(evidence: Sequence[Evidence]) -> tuple[Measurement, ...]:
    """The first measurement of each mesh, of the first few meshes."""
    found: dict[str, Measurement] = {}
    for entry in evidence:
        match entry:
            case Amounts() | Collectives() | Leaves():
                mesh = ", ".join([str(Mesh.of(entry.mesh)), *map(label, entry.cases)])
                measurement = _measurement(entry, mesh)
                if measurement is not None:
                    found.setdefault(mesh, measurement)
    return tuple(found.values())[:MAX_MEASUREMENTS]


def figure_of(evidence: Sequence[Evidence]) -> Measurement | None:
    """The one figure that stands for a check: what is out of bounds, the first, or how the first case differs."""
    found = measurements_of(evidence)
    if found:
        return next((each for each in found if each.is_outside), found[0])
    for entry in evidence:
        difference = entry.difference if isinstance(entry, FailedCase) else None
        if difference is not None and difference.shapes is not None:
            got, expected = (label(str(shape)) for shape in (difference.shapes.got, difference.shapes.expected))
            return Measurement("", "", got, against="expected", other=expected, is_outside=True)
        if difference is not None and difference.worst is not None and difference.worst.relative_error is not None:
            error = f"{difference.worst.relative_error:.3g}"
            return Measurement("", "relative error", error, is_outside=True)
    return None


def _measurement(entry: Amounts | Collectives | Leaves, mesh: str) -> Measurement | None:
    match entry:
        case Amounts():
            rows = [row for row in entry.rows if row.mine is not None]
            # Rows without a bound are there for information.
            graded = [row for row in rows if row.at_most is not None or row.at_least is not None] or rows
            return _of_amount(max(graded, key=_difference), entry, mesh) if graded else None
        case Collectives():
            return _of_collectives(entry, mesh)
        case Leaves():
            # A leaf goes in and comes out: it is right if both are.
            wrong = {leaf.path for leaf in entry.leaves if not leaf.ok}
            paths = {leaf.path for leaf in entry.leaves}
            return Measurement(mesh, "", f"{len(paths - wrong)} of {len(paths)} leaves as expected") if paths else None


def _of_amount(row: Amount, entry: Amounts, mesh: str) -> Measurement:
    in_words = bytes_text if entry.unit == "bytes" else flops_text
    other = _other(row)
    against = "reference" if row.reference is not None else label(entry.whole_title)
    name, mine = label(row.name), row.mine or 0
    if other is None:
        return Measurement(mesh, name, in_words(mine))
    return Measurement(
        mesh=mesh,
        what=name,
        mine=in_words(mine),
        against=against,
        other=in_words(other),
        bound=_bound(row, in_words),
        is_outside=_is_outside(row),
        gauge=_gauge(mine, other, row),
    )


def _of_collectives(entry: Collectives, mesh: str) -> Measurement:
    """The first broken limit, or else the total that each device sends, which no limit bounds."""
    broken = next((limit for limit in entry.limits if _is_outside(limit)), None)
    if broken is not None:
        in_words = bytes_text if broken.unit == "bytes" else _executions_text
        return Measurement(
            mesh=mesh,
            what=label(broken.name),
            mine=in_words(broken.mine),
            against="" if broken.reference is None else "reference",
            other="" if broken.reference is None else in_words(broken.reference),
            bound=_bound(broken, in_words),
            is_outside=True,
            gauge=_gauge(broken.mine, broken.reference, broken),
        )
    mine = sum(each.mine.ring_bytes for each in entry.sums if each.mine)
    reference = sum(each.reference.ring_bytes for each in entry.sums if each.reference)
    texts = (bytes_text(mine), "reference", bytes_text(reference))
    return Measurement(mesh, "sent by each device", *texts, gauge=_gauge(mine, reference))


def _executions_text(count: int) -> str:
    return f"{exact_text(count)} execution{'' if count == 1 else 's'}"


def _is_outside(row: Amount | Limit) -> bool:
    return is_over(row) or is_under(row)


def _bound(row: Amount | Limit, in_words: Callable[[int], str]) -> str:
    """The broken bound, or else the upper one: most mistakes increase a cost."""
    if row.at_least is not None and (is_under(row) or row.at_most is None):
        return f"at least {in_words(row.at_least)}"
    if row.at_most is None:
        return ""
    return f"at most {in_words(row.at_most)}" if row.at_most else "none allowed"


def _other(row: Amount) -> int | None:
    return row.whole if row.reference is None else row.reference


def _difference(row: Amount) -> tuple[bool, float]:
    """The row that is out of bounds, or else the one with the highest ratio to the reference."""
    other = _other(row)
    # Whole numbers of any length: a float could not hold them.
    times = 0.0 if other is None else min((row.mine or 0) * 1000 // max(other, 1), 10**12) / 1000
    return _is_outside(row), times


def _gauge(mine: int, other: int | None, limit: Amount | Limit | None = None) -> Markup:
    """Two bars, and a line for each bound. Decorative: the numbers are beside them."""
    bounds = [each for each in (limit.at_least, limit.at_most) if each is not None] if limit else []
    most = max(mine, other or 0, *bounds, 1)

    def length(amount: int) -> float:
        return max(_WIDTH * (amount * 1000 // most) / 1000, _THINNEST)

    outside = limit is not None and _is_outside(limit)
    bars = [
        element("rect", x=0, y=0, width=length(mine), height=_BAR, class_=f"bar-mine{' is-outside' if outside else ''}")
    ]
    if other is not None:
        bars.append(element("rect", x=0, y=_BAR + 1, width=length(other), height=_BAR, class_="bar-reference"))
    bars += [element("path", d=f"M{length(each):g} 0v{2 * _BAR + 1:g}", class_="limit") for each in bounds]
    size = {"width": _WIDTH, "height": 2 * _BAR + 1}
    box = f"0 0 {_WIDTH:g} {2 * _BAR + 1:g}"
    return element("svg", *bars, class_="gauge", aria_hidden="true", viewBox=box, **size)
