"""Which of JAX's primitives does the traced step use? Seen in the process that traced it, so it is observed only."""

from pydantic import Field

from grader.checks import finding
from grader.checks.finding import Finding
from grader.checks.program.subject import Subject
from grader.evidence import Facts
from grader.verdict import Trust

TITLE = "How the step is written"
TRUST: Trust = "observed"


class Bounds(finding.Bounds):
    """Names as in a printed jaxpr. Of `required` every one must occur, of `any_of` one, of `forbidden` none."""

    required: list[str] = Field(default_factory=list)
    any_of: list[str] = Field(default_factory=list)
    forbidden: list[str] = Field(default_factory=list)


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass when the jaxpr, inner ones included, has what is required and nothing forbidden, on every mesh."""
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
            told = [f"does not use {', '.join(missing)}"] * bool(missing)
            told += [f"uses none of {', '.join(bounds.any_of)}"] * without
            told += [f"uses {', '.join(forbidden)}"] * bool(forbidden)
            text = f"The step {' and '.join(told)}. This problem asks for it to be written otherwise: see its rules."
            return Finding(False, text, "wrong_structure", evidence)
    return Finding(True, "The step is written as asked.", None, evidence)
