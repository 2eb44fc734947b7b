"""What differs between the verdicts of two attempts at a problem: checks, collectives, amounts, placements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.core.web.units import NOTHING, bytes_text, exact_text
from app.presentation.drawings.placement import Mesh, label
from app.presentation.program_evidence import UNITS
from app.presentation.table import Cell, Row, Table, code, columns
from app.presentation.totals import change_of
from grader.verdicts.evidence import Amounts, Collectives, Leaves, OnMesh
from grader.verdicts.verdict import CheckResult, Verdict

_MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class _Value:
    """`number` is what the change is computed from; None for a value that is only text."""

    text: str
    number: int | None = None


_NO_COLLECTIVE = _Value("none", 0)
# By what a row is called.
_Values = Mapping[str, _Value]


def differences_of_verdicts(old: Verdict, new: Verdict) -> Table:
    """The rows that differ. What only one of the two was measured for is not compared."""
    rows = []
    for values_of in (_checks, _collectives, _amounts):
        before, after = dict(values_of(old)), dict(values_of(new))
        if values_of is _collectives:
            before, after = _with_none(before, after, old), _with_none(after, before, new)
        rows += [
            _row(name, before[name], after[name]) for name in before if name in after and before[name] != after[name]
        ]
    rows += _placements(old, new)
    left = len(rows) - _MOST_ROWS
    remarks = (f"{left} more differences are not listed.",) if left > 0 else ()
    names = columns("Measured", "A", "B", "B against A", numbers=("A", "B"))
    return Table("What was measured in A and B", names, tuple(rows[:_MOST_ROWS]), remarks=remarks)


def _row(name: str, before: _Value, after: _Value) -> Row:
    change = change_of(after.number, before.number) or NOTHING
    return Row(tuple(map(Cell, (name, before.text, after.text, change))))


def _checks(verdict: Verdict) -> Iterator[tuple[str, _Value]]:
    if verdict.score is not None:
        yield "Score", _Value(f"{verdict.score} of 100", verdict.score)
    for each in verdict.checks:
        yield each.title, _Value(_passed(each))


def _passed(check: CheckResult) -> str:
    if not check.checked:
        return "not checked"
    return f"{'passed' if check.passed else 'failed'}, {check.points} of {check.max_points} points"


def _collectives(verdict: Verdict) -> Iterator[tuple[str, _Value]]:
    """Each kind over the same axes: executions, and bytes that a device sends."""
    for entry in (each for check in verdict.checks for each in check.evidence if isinstance(each, Collectives)):
        for one in entry.sums:
            if one.mine is None:
                continue
            over = f" over {', '.join(one.axes)}" if one.axes else ""
            text = f"{exact_text(one.mine.executions)} executed, {bytes_text(one.mine.ring_bytes)} sent"
            name = f"{label(one.collective)}{label(over)}{' in a loop' * one.in_loop} on {_on(entry)}"
            yield name, _Value(text, one.mine.ring_bytes)


def _with_none(values: _Values, others: _Values, verdict: Verdict) -> dict[str, _Value]:
    """With a row for each collective that only the other one has, on the meshes that were measured."""
    measured = [
        f" on {_on(each)}" for check in verdict.checks for each in check.evidence if isinstance(each, Collectives)
    ]
    missing = [name for name in others if name not in values and name.endswith(tuple(measured))]
    return {**values, **dict.fromkeys(missing, _NO_COLLECTIVE)}


def _amounts(verdict: Verdict) -> Iterator[tuple[str, _Value]]:
    for entry in (each for check in verdict.checks for each in check.evidence if isinstance(each, Amounts)):
        for row in entry.rows:
            if row.mine is not None:
                name = f"{label(entry.title)}, {label(row.name)}, on {_on(entry)}"
                yield name, _Value(UNITS[entry.unit](row.mine), row.mine)


def _placements(old: Verdict, new: Verdict) -> Iterator[Row]:
    """One row for all leaves whose placement changed in the same way."""
    before, after = _specs(old), _specs(new)
    changed: dict[tuple[str, str, str], list[str]] = {}
    for (path, where), spec in before.items():
        other = after.get((path, where), spec)
        if spec != other:
            changed.setdefault((where, spec, other), []).append(path)
    for (where, spec, other), paths in changed.items():
        more = f" and {len(paths) - 1} more leaves" if len(paths) > 2 else "".join(f" and {each}" for each in paths[1:])
        yield Row((Cell(f"{paths[0]}{more}, {where}"), code(spec), code(other), Cell(NOTHING)))


def _specs(verdict: Verdict) -> dict[tuple[str, str], str]:
    """By the path of a leaf, and when and on which mesh it was placed."""
    return {
        (label(leaf.path), f"{'before' if leaf.when == 'in' else 'after'} the step, on {_on(entry)}"): label(
            leaf.got_spec
        )
        for check in verdict.checks
        for entry in check.evidence
        if isinstance(entry, Leaves)
        for leaf in entry.leaves
    }


def _on(entry: OnMesh) -> str:
    return ", ".join([str(Mesh.of(entry.mesh)), *map(label, entry.cases)])
