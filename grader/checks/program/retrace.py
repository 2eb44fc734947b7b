"""Check that the second step reuses the trace of the first, in an exported program of two steps."""

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording
from grader.package.package import CheckBounds, ProgramManifest
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "The step is traced once"
TRUST: Trust = "verified"
PROMISE = r"\bnot be (?:re)?traced again\b|\bnot be retraced\b"
Bounds = CheckBounds


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(("a second step, on the outputs of the first, is not traced again",))


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if a step on the outputs of the first step is not traced again, on every mesh."""
    # A second step that was not exported proves nothing, so it does not pass.
    again = [pair for pair in subject.pairs if pair.mine.facts.retraced is not False]
    evidence = [
        Facts(**subject.entry(pair), about="second step", values={"retraced": pair in again}) for pair in subject.pairs
    ]
    if again:
        text = (
            "the second step is traced and compiled again, because the type of at least one leaf of the state changes: "
            "its weak type or, on Explicit axes, its sharding. Give each leaf a dtype when you create it, as in "
            "`jnp.zeros((), jnp.int32)`."
        )
        return rejected([Located(f"On {subject.place(again[0])}, ", text)], "retraced", evidence)
    return Finding(True, "The second step reuses the program of the first.", None, evidence)
