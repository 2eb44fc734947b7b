"""What the checks on a TPU's program have in common: the slice in their bounds, and their answer without a program."""

from typing import Annotated

from pydantic import AfterValidator

from grader.checks.finding import Finding
from grader.chips import slice_of
from grader.package.package import CheckBounds
from grader.program.tpu import OnChip
from grader.reasons import Reason


def _existing(topology: str) -> str:
    slice_of(topology)
    return topology


class TopologyBounds(CheckBounds):
    """`topology` is a slice such as v5e:2x4. The program of the mesh with as many devices is compiled for it."""

    topology: Annotated[str, AfterValidator(_existing)]


class FullSizeBounds(TopologyBounds):
    """The program is that of `[program.full_size]`, and `topology` a slice of as many chips as its mesh has devices."""


def unchecked(on_chip: OnChip, reason: Reason) -> Finding:
    """Pass if nothing was compiled, which is not the submission's fault; otherwise say what the compiler says."""
    if not on_chip.tried:
        return Finding(True, on_chip.fault, checked=False)
    return Finding(False, f"On {on_chip.where}, there is no program to check. {on_chip.fault}", reason)
