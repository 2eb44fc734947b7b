"""Can the second step use what was traced for the first? Seen in the process that traced, so it is observed only."""

from grader.checks.finding import Bounds as Bounds
from grader.checks.finding import Finding
from grader.checks.program.subject import Subject
from grader.evidence import Facts
from grader.verdict import Trust

TITLE = "Traced once"
TRUST: Trust = "observed"


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass when a step on the first step's outputs traces nothing again, on every mesh."""
    evidence = [
        Facts(**subject.entry(pair), about="second step", values={"retraced": pair.mine.retraced})
        for pair in subject.pairs
    ]
    again = [subject.place(pair) for pair in subject.pairs if pair.mine.retraced]
    if again:
        text = (
            f"On {again[0]} the second step is traced and compiled again, because some leaf of the new state "
            "differs from the old one in shape, dtype or weak type. Give every leaf its dtype where it is made, as in "
            "`jnp.zeros((), jnp.int32)`."
        )
        return Finding(False, text, "retraced", evidence)
    return Finding(True, "The second step uses the first one's program.", None, evidence)
