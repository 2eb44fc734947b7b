"""Check which JAX primitives the traced step uses. The process that traced it reports them, so they are observed."""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording, named
from grader.package.package import CheckBounds, ProgramManifest
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "How the step is written"
TRUST: Trust = "observed"


class Bounds(CheckBounds):
    """Names as in a printed jaxpr: all of `required` must occur, at least one of `any_of`, and none of `forbidden`."""

    required: list[str] = Field(default_factory=list)
    any_of: list[str] = Field(default_factory=list)
    forbidden: list[str] = Field(default_factory=list)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """In words: see `Wording`."""
    uses = []
    if bounds.required:
        uses.append(f"the traced step uses {named(bounds.required)}")
    if bounds.any_of:
        uses.append(f"the traced step uses {named(bounds.any_of, 'or')}")
    if bounds.forbidden:
        uses.append(f"the traced step does not use {named(bounds.forbidden, 'or')}")
    return Wording(
        tuple(uses),
        (
            *uses,
            "primitives are named as in a printed jaxpr, and those inside other primitives count",
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if the jaxpr, with the jaxprs inside it, has all required and no forbidden primitives on every mesh."""
    evidence = [
        Facts(**subject.entry(pair), about="primitives of the traced step", values=dict(pair.mine.primitives))
        for pair in subject.pairs
    ]
    for pair in subject.pairs:
        used = pair.mine.primitives
        missing = [name for name in bounds.required if name not in used]
        forbidden = [name for name in bounds.forbidden if name in used]
        without = bool(bounds.any_of) and not any(name in used for name in bounds.any_of)
        if missing or forbidden or without:
            faults = [f"does not use {', '.join(missing)}"] * bool(missing)
            faults += [f"uses none of {', '.join(bounds.any_of)}"] * without
            faults += [f"uses {', '.join(forbidden)}"] * bool(forbidden)
            text = (
                f"the step {' and '.join(faults)}. This problem requires a different construction: see the statement."
            )
            return rejected([Located("", text)], "wrong_structure", evidence)
    return Finding(True, "The step uses the required primitives.", None, evidence)
