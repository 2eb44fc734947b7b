"""Is the exchange written by hand: do the matrix products and the collectives stand in shard_map?

Read from the exported program, where shard_map is an operation with a body, and from the channels of the compiled
collectives: one that the partitioner made has a channel that nothing in the exported program has.
"""

from pydantic import Field

from grader.checks import finding
from grader.checks.finding import Finding
from grader.checks.program.subject import Subject
from grader.evidence import Facts
from grader.program.collectives import Collective
from grader.program.measured import Measured
from grader.text import in_bytes
from grader.verdict import Trust

TITLE = "Written by hand, in shard_map"
TRUST: Trust = "verified"
_ADVICE = "Do it inside the function that you give to `jax.shard_map`, where a mesh axis has a name."


class Bounds(finding.Bounds):
    """Collectives that over all their executions move less than `ignore_below` bytes may be the partitioner's."""

    ignore_below: int = Field(default=64, ge=0)


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass when no matrix product stands outside of shard_map, and no collective is the partitioner's, on any mesh."""
    evidence: list[Facts] = []
    faults: list[str] = []
    for pair in subject.pairs:
        facts = pair.mine.facts
        left = _left_to_the_partitioner(pair.mine, bounds)
        found: dict[str, bool | int | str] = {
            "products": facts.products_outside,
            "collectives of the partitioner": len(left),
        }
        evidence.append(Facts(**subject.entry(pair), about="outside of shard_map", values=found))
        where = f"On {subject.place(pair)}"
        if facts.products_outside:
            number = facts.products_outside
            told = "one matrix product stands" if number == 1 else f"{number} matrix products stand"
            faults.append(
                f"{where} {told} outside of shard_map. There the partitioner decides what each device computes and "
                f"what travels, whatever a shard_map beside it does. {_ADVICE}"
            )
        elif left:
            each = left[0]
            line = f" (line {each.source_line})" if each.source_line else ""
            faults.append(
                f"{where} the partitioner wrote an exchange: {each.kind} of {in_bytes(each.logical_bytes)}{line}. What "
                "leaves shard_map split, or is split otherwise than it goes in, is moved by the partitioner. "
                f"{_ADVICE}"
            )
    if faults:
        return Finding(False, faults[0], "wrong_structure", evidence)
    return Finding(True, "All matrix products and collectives stand in shard_map.", None, evidence)


def _left_to_the_partitioner(measured: Measured, bounds: Bounds) -> list[Collective]:
    """Those that nobody asked for: by their channel, or because there is more of a kind than was asked for.

    XLA joins collectives that go the same way, and the joint one keeps one channel of them all.
    """
    asked = measured.facts.asked
    channels = {each.channel for each in asked if each.operand_bytes and each.channel is not None}
    budget: dict[str, int] = {}
    for each in asked:
        budget[each.kind] = budget.get(each.kind, 0) + each.operand_bytes
    left = []
    for found in measured.facts.census.collectives:
        size = _operand_bytes(found)
        if found.group_size == 1 or found.logical_bytes * (found.executions or 1) < bounds.ignore_below:
            continue
        budget[found.kind] = budget.get(found.kind, 0) - size
        if found.channel not in channels or budget[found.kind] < -bounds.ignore_below:
            left.append(found)
    return left


def _operand_bytes(collective: Collective) -> int:
    """Of one device, in one execution."""
    whole = collective.kind in {"all-reduce", "reduce-scatter", "collective-broadcast"}
    return collective.logical_bytes // (1 if whole else collective.group_size)
