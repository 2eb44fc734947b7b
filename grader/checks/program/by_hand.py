"""Check that communication is written by hand: all matrix products and collectives are inside shard_map.

The exported program shows shard_map as an operation with a body. In the compiled program, a collective that the
partitioner inserted has a channel that the exported program lacks.
"""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording, small
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.partitioner import left_to_the_partitioner
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "Written by hand in shard_map"
TRUST: Trust = "verified"
_ADVICE = "inside the function that you pass to `jax.shard_map`, where mesh axes have names."


class Bounds(CheckBounds):
    """The partitioner may insert collectives that move less than `ignore_below` bytes over all their executions."""

    ignore_below: int = Field(default=64, ge=0)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        ("every matrix product and every collective is written inside `shard_map`",),
        (
            "no matrix product of the exported program is outside `shard_map`",
            "XLA's partitioner inserts no collective",
            *small(bounds.ignore_below, "inserted collectives"),
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if no matrix product is outside shard_map and the partitioner inserted no collective, on any mesh."""
    evidence: list[Facts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        facts = pair.mine.facts
        left = left_to_the_partitioner(pair.mine, bounds.ignore_below)
        found: dict[str, bool | int | str] = {
            "matrix products": facts.products_outside,
            "collectives that the partitioner inserted": len(left),
        }
        evidence.append(Facts(**subject.entry(pair), about="outside shard_map", values=found))
        where = f"On {subject.place(pair)}, "
        if facts.products_outside:
            number = facts.products_outside
            products, them = f"{number} matrix products are", "them"
            if number == 1:
                products, them = "one matrix product is", "it"
            faults.append(
                Located(
                    where,
                    f"{products} outside shard_map. There, XLA's partitioner decides what each device computes "
                    f"and sends, even if other parts of your code use shard_map. Move {them} {_ADVICE}",
                )
            )
        elif left:
            each = left[0]
            line = f" (line {each.source_line})" if each.source_line else ""
            faults.append(
                Located(
                    where,
                    f"XLA's partitioner inserted one {each.kind} of {in_bytes(each.logical_bytes)}{line}. It does "
                    "so when an array leaves shard_map sharded but is needed whole, or when its sharding differs from "
                    f"`in_specs`. Write the collective {_ADVICE}",
                )
            )
    if faults:
        return rejected(faults, "wrong_structure", evidence, shown=1)
    return Finding(True, "All matrix products and collectives are inside shard_map.", None, evidence)
