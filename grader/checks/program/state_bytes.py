"""Check how much of the state the fullest device holds between steps."""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording, within
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.measurement import Measured
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "State on each device"
TRUST: Trust = "verified"
_PLACEMENT = "At least one leaf is replicated, or is on more devices than it should be."


class Bounds(CheckBounds):
    """`at_most` is a multiple of the reference's bytes."""

    at_most: float = Field(default=1.0, ge=1)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    if bounds.at_most == 1:
        sentence = "no device stores more bytes of the state than in the reference"
    else:
        sentence = f"no device stores more than {bounds.at_most:g} times the reference's bytes of the state"
    return Wording(
        (sentence,),
        (f"bytes of the state on the fullest device: {within(None, bounds.at_most)} the reference's",),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if the state fits the bound before and after the step. Bytes are those of the fullest device."""
    evidence: list[Amounts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        mine, reference = _fullest(pair.mine), _fullest(pair.reference)
        whole = sum(leaf.whole_bytes for _, leaf in pair.reference.state_in)
        at_most = int(reference * bounds.at_most)
        row = Amount(name="state", mine=mine, reference=reference, whole=whole, at_most=at_most)
        evidence.append(
            Amounts(
                **subject.entry(pair),
                title="Bytes on the fullest device",
                unit="bytes",
                whole_title="replicated",
                rows=[row],
            )
        )
        if mine > at_most:
            faults.append(
                Located(
                    f"On {subject.place(pair)}, ",
                    f"the fullest device holds {in_bytes(mine)} of state, "
                    f"{mine / reference:.3g} times the reference's {in_bytes(reference)}; the whole state is "
                    f"{in_bytes(whole)}. {pair.why_more_state(mine, reference, _PLACEMENT)}",
                )
            )
    if faults:
        return rejected(faults, "too_much_memory", evidence)
    first = evidence[0].rows[0]
    message = f"Each device holds {in_bytes(first.mine or 0)} of the {in_bytes(first.whole or 0)} state."
    return Finding(True, message, None, evidence)


def _fullest(measured: Measured) -> int:
    devices = range(measured.facts.devices)
    before = max(measured.state_bytes(device) for device in devices)
    leaves = [leaf for _, leaf in measured.out[: len(measured.state)]]
    after = max(sum(leaf.held_bytes(device) for leaf in leaves) for device in devices)
    return max(before, after)
