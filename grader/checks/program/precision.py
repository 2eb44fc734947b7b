"""Check that a step does not replace leaves of the state by rounded ones, in the program as written.

Results cannot tell: a value that was rounded to bfloat16 and one that was not may both lie within the tolerance.
"""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import Wording, listed, named
from grader.package.package import CheckBounds, ProgramManifest
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "Full precision of the state"
TRUST: Trust = "verified"
_MAX_NAMED = 3


class Bounds(CheckBounds):
    """No leaf of `groups` may be computed only from rounded elements of a leaf of the same groups."""

    groups: list[str] = Field(min_length=1)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        (f"no leaf of {named(bounds.groups)} is replaced by one that was rounded",),
        (
            f"each leaf of {named(bounds.groups)} that a step returns is computed from the leaves that it was given at "
            "their full precision: the exported program has no conversion to a narrower dtype in between",
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if no leaf is rounded on its way from state to state, on any mesh. Evidence: how many leaves are."""
    evidence: list[Facts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        rounded = _rounded(subject, pair, bounds)
        values: dict[str, bool | int | str] = {
            "returned": len(subject.outputs_of(bounds.groups, pair)),
            "from rounded leaves": len({output for output, _ in rounded}),
        }
        evidence.append(Facts(**subject.entry(pair), about=f"leaves of {listed(bounds.groups)}", values=values))
        if rounded and not faults:
            faults.append(Located(f"On {subject.place(pair)}, ", _describe(rounded)))
    if faults:
        return rejected(faults, "lost_precision", evidence)
    return Finding(True, f"No leaf of {listed(bounds.groups)} is rounded on its way through a step.", None, evidence)


def _rounded(subject: Subject, pair: Pair, bounds: Bounds) -> list[tuple[str, str]]:
    """Return pairs of a returned and a given leaf in the groups: the first has the second's elements only rounded."""
    state, returned = pair.mine.state, pair.mine.outputs
    given, out = subject.leaves_of(bounds.groups, pair), subject.outputs_of(bounds.groups, pair)
    return [
        (returned[output], state[number])
        for output, number in pair.mine.facts.rounded
        if number < len(state) and state[number] in given and returned[output] in out
    ]


def _describe(rounded: list[tuple[str, str]]) -> str:
    """Describe the rounded leaves, beginning with one that is computed from itself, because that says most."""
    output, given = min(rounded, key=lambda pair: (pair[0] != pair[1], pair))
    leaves = list(dict.fromkeys(leaf for leaf, _ in rounded))
    more = f" So {'is' if len(leaves) == 2 else 'are'} {_names(leaves, output)}." if len(leaves) > 1 else ""
    before = "the value that it had" if output == given else given
    return (
        f"{output} is computed from {before} only after a conversion to a narrower dtype, so digits are lost in every "
        f"step.{more} Convert a copy, and compute the new value from the leaf itself."
    )


def _names(leaves: list[str], without: str) -> str:
    others = [leaf for leaf in leaves if leaf != without]
    rest = len(others) - _MAX_NAMED
    return listed([*others[:_MAX_NAMED], *([f"{rest} more"] if rest > 0 else [])])
