"""Check the memory that the compiled step takes on each device: arguments, constants and temporaries."""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.held_arrays import largest_arrays
from grader.checks.program_subject import Pair, Subject
from grader.checks.topology import AlsoOnChips, TopologyBounds, amounts_on, together, unchecked
from grader.checks.wording import Wording, listed, within
from grader.core.text import in_bytes
from grader.package.package import ProgramManifest
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "Memory of the compiled step"
TRUST: Trust = "verified"
# A smaller difference is not significant: it may be alignment, a counter, or another fusion.
SLACK_BYTES = 4096


class ChipMemory(TopologyBounds):
    """Temporaries on a chip, as multiples of the whole bytes of the group `of`."""

    of: str
    temporaries_at_most: float = Field(gt=0)


class Bounds(AlsoOnChips):
    """Multiples of the reference's bytes, measured in the same way on the same machine.

    Constants count as arguments, because a device holds both for as long as it holds the program. `on_chip` bounds the
    temporaries of the programs for slices.
    """

    arguments_at_most: float = Field(default=1.02, ge=1)
    temporaries_at_most: float = Field(default=1.5, ge=1)
    on_chip: ChipMemory | None = None


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    arguments, temporaries = (within(None, each) for each in (bounds.arguments_at_most, bounds.temporaries_at_most))
    return Wording(
        (f"temporaries take {temporaries} the reference's bytes, and arguments {arguments} the reference's",),
        (
            f"temporaries on a device: {temporaries} the reference's bytes, plus {SLACK_BYTES:,}",
            f"arguments and array constants on a device: {arguments} the reference's bytes, plus {SLACK_BYTES:,}",
            *(_wording_of(bounds.on_chip) if bounds.on_chip else ()),
        ),
    )


def _wording_of(bounds: ChipMemory) -> tuple[str]:
    times = within(None, bounds.temporaries_at_most)
    return (
        f"temporaries on {listed(bounds.topology)}: {times} the bytes of `{bounds.of}`, plus {SLACK_BYTES:,}, by the "
        "compiler for the chip; not checked without it",
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if arguments and temporaries are within bounds. The compiler reports the bytes of one device."""
    found = _check_host_devices(subject, bounds)
    if bounds.on_chip is None:
        return found
    return together([found, *(_check_on(subject, bounds.on_chip, topology) for topology in bounds.on_chip.topology)])


def _check_on(subject: Subject, bounds: ChipMemory, topology: str) -> Finding:
    on_chip = subject.on_chip[topology]
    if on_chip.program is None:
        return unchecked(on_chip, "too_much_memory")
    held = on_chip.program.memory.temporary_bytes
    whole = sum(subject.bytes_of(bounds.of, subject.pairs[0].reference).values())
    row = Amount(
        name="temporaries", mine=held, reference=None, whole=whole, at_most=_at_most(whole, bounds.temporaries_at_most)
    )
    what = "Bytes on a chip"
    evidence = [amounts_on(subject, on_chip, topology, what, [row], unit="bytes", whole="the group's bytes")]
    where, takes = f"On {on_chip.where}, ", f"temporaries take {in_bytes(held)}"
    if row.at_most is not None and held > row.at_most:
        text = (
            f"{takes}, but only {bounds.temporaries_at_most:g} times the {in_bytes(whole)} of {bounds.of} is allowed."
        )
        return rejected([Located(where, text)], "too_much_memory", evidence)
    return Finding(True, f"{where}{takes}.", None, evidence)


def _check_host_devices(subject: Subject, bounds: Bounds) -> Finding:
    evidence: list[Amounts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        mine, reference = pair.mine.facts.memory, pair.reference.facts.memory
        constants, usual = (each.facts.census.constant_bytes for each in (pair.mine, pair.reference))
        limits = {"arguments": bounds.arguments_at_most, "temporaries": bounds.temporaries_at_most}
        rows = [
            Amount(
                name="arguments",
                mine=mine.argument_bytes + constants,
                reference=reference.argument_bytes + usual,
                whole=sum(leaf.whole_bytes for leaf in pair.reference.facts.inputs),
                at_most=_at_most(reference.argument_bytes + usual, bounds.arguments_at_most),
            ),
            Amount(name="outputs", mine=mine.output_bytes, reference=reference.output_bytes, whole=None),
            Amount(
                name="temporaries",
                mine=mine.temporary_bytes,
                reference=reference.temporary_bytes,
                whole=None,
                at_most=_at_most(reference.temporary_bytes, bounds.temporaries_at_most),
            ),
        ]
        evidence.append(
            Amounts(
                **subject.entry(pair),
                title="Bytes on the fullest device",
                unit="bytes",
                whole_title="replicated",
                rows=rows,
            )
        )
        faults += [
            Located(f"On {subject.place(pair)}, ", _message(pair, row, limits[row.name], constants - usual))
            for row in rows
            if row.at_most is not None and (row.mine or 0) > row.at_most
        ]
    if faults:
        return rejected(faults, "too_much_memory", evidence)
    arguments, _, temporaries = evidence[0].rows
    message = (
        f"Each device needs {in_bytes(arguments.mine or 0)} for arguments and constants, and "
        f"{in_bytes(temporaries.mine or 0)} for temporaries."
    )
    return Finding(True, message, None, evidence)


def _at_most(reference: int, limit: float) -> int:
    return int(reference * limit) + SLACK_BYTES


def _message(pair: Pair, row: Amount, limit: float, constants: int) -> str:
    held, expected = row.mine or 0, row.reference or 0
    mine, reference = in_bytes(held), in_bytes(expected)
    text = (
        f"{row.name} take {mine} on each device; the reference takes {reference}, and at most "
        f"{limit:g} times that is allowed."
    )
    if row.name == "arguments" and constants > SLACK_BYTES:
        return (
            f"{text} {in_bytes(constants)} of that are constants of the program: arrays that were computed while the "
            "step was traced, such as a NumPy array or a jax.Array from outside the step. Constants count as "
            "arguments. Create such an array inside the step with `jax.numpy`, or pass it as part of the state."
        )
    if row.name == "arguments":
        placement = "Each device receives more of the state than its own share."
        return f"{text} {pair.why_more_state(held, expected, placement)}"
    return f"{text}{largest_arrays(pair.mine.facts.census, pair.reference.facts.census)}"
