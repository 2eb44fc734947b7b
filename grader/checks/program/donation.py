"""Does the new state reuse the memory of the old one?"""

from grader.checks.finding import Bounds as Bounds
from grader.checks.finding import Finding
from grader.checks.program.subject import Subject
from grader.evidence import Amount, Amounts
from grader.text import in_bytes
from grader.verdict import Trust

TITLE = "The state is donated"
TRUST: Trust = "verified"


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if all bytes of the state on a device are aliased, or at least as many as in the reference."""
    evidence: list[Amounts] = []
    faults: list[str] = []
    for pair in subject.pairs:
        donated = pair.mine.facts.memory.alias_bytes
        state = max(pair.mine.state_bytes(device) for device in range(pair.mine.facts.devices))
        reference = pair.reference.facts.memory.alias_bytes
        expected = min(state, reference)
        evidence.append(
            Amounts(
                **subject.entry(pair),
                title="Donated bytes on each device",
                unit="bytes",
                whole_title="whole state",
                rows=[Amount(name="donated state", mine=donated, reference=None, whole=state, at_least=expected)],
            )
        )
        if donated < expected:
            faults.append(
                f"On {subject.place(pair)}, only {in_bytes(donated)} of the {in_bytes(state)} of state on each device "
                "is overwritten in place, so the device holds the old and the new state at the same time. A leaf can "
                "be donated if its new value has the same shape, dtype and sharding as the old one."
            )
    if faults:
        return Finding(False, "\n".join(faults), "not_donated", evidence)
    return Finding(True, "The whole state is overwritten in place.", None, evidence)
