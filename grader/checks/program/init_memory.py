"""Check that the state is created in shards: no device holds much more than its own part while `init` runs."""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.held_arrays import largest_arrays, whole_leaves
from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import Wording, within
from grader.core.errors import GraderFault
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.facts import ProgramFacts
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "The state is created where it lives"
TRUST: Trust = "verified"


class Bounds(CheckBounds):
    """`at_most` is a multiple of the reference's bytes for outputs and temporaries of `init` on a device."""

    at_most: float = Field(default=1.5, ge=1)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    limit = within(None, bounds.at_most)
    return Wording(
        (f"while `init` runs, a device needs {limit} the memory that the reference's `init` needs",),
        (f"outputs and temporaries of the compiled `init` on a device: {limit} the reference's bytes",),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if outputs and temporaries of the compiled `init` on a device are within the bound."""
    evidence: list[Amounts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        if pair.mine.init is None or pair.reference.init is None:
            raise GraderFault("the check 'init_memory' needs a package with program.export_init")
        mine, reference = (
            each.memory.output_bytes + each.memory.temporary_bytes for each in (pair.mine.init, pair.reference.init)
        )
        whole = sum(leaf.whole_bytes for _, leaf in pair.reference.state_in)
        at_most = int(reference * bounds.at_most)
        row = Amount(name="init", mine=mine, reference=reference, whole=whole, at_most=at_most)
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
                    f"a device holds up to {in_bytes(mine)} while `init` runs; the reference "
                    f"holds {in_bytes(reference)}, and the whole state is {in_bytes(whole)}. "
                    f"{_cause(pair, pair.mine.init, pair.reference.init)}",
                )
            )
    if faults:
        return rejected(faults, "too_much_memory", evidence, shown=1)
    held = in_bytes(evidence[0].rows[0].mine or 0)
    return Finding(True, f"No device holds more than {held} while `init` runs.", None, evidence)


def _cause(pair: Pair, mine: ProgramFacts, reference: ProgramFacts) -> str:
    """Say why it is too much and what to do, given the facts of both programs of `init`."""
    returned, expected = mine.memory.output_bytes, reference.memory.output_bytes
    if returned > expected:
        placement = (
            "Split each leaf inside the jitted function that creates it, with `jax.lax.with_sharding_constraint` or "
            "`out_shardings`."
        )
        return (
            f"The state that it returns takes {in_bytes(returned)} on a device; the reference's takes "
            f"{in_bytes(expected)}. {pair.why_more_state(returned, expected, placement)}"
        )
    whole = whole_leaves(mine.census, reference.census, pair.reference.state_in)
    held = whole or largest_arrays(mine.census, reference.census)
    return (
        f"The state that it returns is split, but creating it takes more.{held} Split each array inside the jitted "
        "function that creates it, with `jax.lax.with_sharding_constraint`."
    )
