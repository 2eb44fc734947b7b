"""Check that the second step reuses the trace of the first. The process that traced it reports it: it is observed."""

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording
from grader.package.package import CheckBounds, ProgramManifest
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "The step is traced once"
TRUST: Trust = "observed"
PROMISE = r"\bnot be (?:re)?traced again\b|\bnot be retraced\b"
Bounds = CheckBounds


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """In words: see `Wording`."""
    return Wording(("a second step, on the outputs of the first, is not traced again",))


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if a step on the outputs of the first step is not traced again, on every mesh."""
    evidence = [
        Facts(**subject.entry(pair), about="second step", values={"retraced": pair.mine.retraced})
        for pair in subject.pairs
    ]
    again = [subject.place(pair) for pair in subject.pairs if pair.mine.retraced]
    if again:
        text = (
            "the second step is traced and compiled again, because at least one leaf of the new state "
            "differs from the old one in shape, dtype or weak type. Give each leaf a dtype when you create it, as in "
            "`jnp.zeros((), jnp.int32)`."
        )
        return rejected([Located(f"On {again[0]}, ", text)], "retraced", evidence)
    return Finding(True, "The second step reuses the program of the first.", None, evidence)
