"""What was measured of a rejected submission, in a few words that are equal for attempts that are wrong in the same
way.

In call mode, that is the wrong output of a public case. In program mode, it is which leaves are in the wrong place, or
how the program communicates, on the first mesh where that differs from the reference. All of it is in the verdict that
its author reads.
"""

import hashlib
import json
from collections.abc import Iterator

from grader.verdicts.evidence import (
    Amounts,
    Collectives,
    CollectiveSum,
    Difference,
    Evidence,
    Factors,
    Facts,
    FailedCase,
    Fault,
    Leaves,
    OnMesh,
)
from grader.verdicts.verdict import Verdict

_MOST = 4
_LONGEST = 120


def signature_of(verdict: Verdict) -> dict[str, object]:
    """`signs`, the first few in words, and `fingerprint`, a hash of all of them with the reason and the check.

    The hash is null if only the failed check and cases are known.
    """
    check = next((each for each in verdict.checks if not each.passed), None)
    signs = list(dict.fromkeys(_signs(check.evidence))) if check else []
    if check is None or not signs:
        return {"signs": [], "fingerprint": None}
    whole = json.dumps([verdict.reason, check.id, signs])
    return {
        "signs": [each if len(each) <= _LONGEST else each[: _LONGEST - 1] + "…" for each in signs[:_MOST]],
        "fingerprint": hashlib.sha256(whole.encode()).hexdigest()[:16],
    }


def _signs(evidence: list[Evidence]) -> Iterator[str]:
    mesh, case = None, None
    for entry in evidence:
        if isinstance(entry, OnMesh):
            # What a further mesh shows has the same cause.
            found = list(_on_mesh(entry)) if mesh in (None, entry.mesh) else []
            mesh = entry.mesh if found else mesh
            yield from found
        elif isinstance(entry, FailedCase) and case is None:
            case = entry.case
            yield f"{entry.case}: {_wrong(entry.difference, entry.fault)}"
        elif isinstance(entry, Fault):
            yield _wrong(None, entry)
        elif isinstance(entry, Facts) and mesh in (None, entry.mesh):
            mesh = entry.mesh
            yield f"{entry.about}: " + ", ".join(f"{name} {_value(value)}" for name, value in entry.values.items())


def _on_mesh(entry: OnMesh) -> Iterator[str]:
    if isinstance(entry, Leaves):
        for leaf in entry.leaves:
            if not leaf.ok:
                when = "in the new state" if leaf.when == "out" else "in the input state"
                got = "is missing" if leaf.got is None else f"is {leaf.got_spec}, not {leaf.expected_spec}"
                yield f"{leaf.path} {when} {got}"
    elif isinstance(entry, Collectives):
        yield from (_communication(each) for each in entry.sums if each.mine != each.reference)
    elif isinstance(entry, Amounts):
        for row in entry.rows:
            if row.mine is not None and row.at_most is not None and row.mine > row.at_most:
                yield f"{row.name}: {_times(row.mine, row.reference)}"
    elif isinstance(entry, Factors):
        for factor in entry.factors:
            if factor.mine is not None and factor.mine != factor.reference:
                yield f"{factor.name} change by a factor of {factor.mine:.3g}"


def _communication(each: CollectiveSum) -> str:
    where = f" over {', '.join(each.axes)}" if each.axes else f" in groups of {each.group_size}"
    loop = " in a loop" if each.in_loop else ""
    name = each.collective.replace("-", "_") + where + loop
    if each.mine is None or not each.mine.executions:
        return f"{name}: none"
    if each.reference is None or not each.reference.executions:
        return f"{name}: {each.mine.executions}, and none in the reference"
    bytes_ = _times(each.mine.bytes, each.reference.bytes)
    return f"{name}: {each.mine.executions} instead of {each.reference.executions}, {bytes_} in bytes"


def _times(mine: int, reference: int | None) -> str:
    return f"{mine / reference:.2g} times the reference" if reference else f"{mine}, and none in the reference"


def _wrong(difference: Difference | None, fault: Fault | None) -> str:
    if fault is not None and fault.shapes is not None:
        return f"{fault.shapes.got}, not {fault.shapes.expected}"
    if fault is not None:
        return fault.type or fault.ended_by or ("not valid Python" if fault.line else "ended early")
    if difference is None:
        return "wrong"
    if difference.worst is not None:
        at = "".join(f"[{each}]" for each in difference.worst.index)
        return f"{at or 'it'} is {_short(difference.worst.got)}, not {_short(difference.worst.expected)}"
    got, expected = (
        each if isinstance(each, str) else ", ".join(each) for each in (difference.got, difference.expected)
    )
    return f"{_short(got)}, not {_short(expected)}"


def _short(text: str) -> str:
    """A number with three significant digits, which submissions that are wrong in the same way share."""
    try:
        return f"{float(text):.3g}"
    except ValueError:
        return text


def _value(value: bool | int | str) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
