"""What checks on a chip's program share: the slices in their bounds, and their finding if there is no program."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from grader.checks.finding import Finding, Located, rejected
from grader.core.chips import slice_of
from grader.core.reasons import Reason
from grader.package.package import CheckBounds
from grader.program.on_chip import OnChip


def _existing(topology: str) -> str:
    slice_of(topology)
    return topology


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Slice = Annotated[str, AfterValidator(_existing)]
_ONE, _SEVERAL = {"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}


class TopologyBounds(CheckBounds):
    """`topology` is a slice such as h100:8, or a list. The program for as many devices is compiled for each."""

    # One as a list of one, and not a union of types: a fault is then said once.
    topology: Annotated[
        list[_Slice],
        Field(min_length=1),
        BeforeValidator(_as_list),
        WithJsonSchema({"anyOf": [_ONE, _SEVERAL]}),
    ]


class FullSizeBounds(CheckBounds):
    """The program is that of `[program.full_size]`, and `topology` a slice of as many chips as its mesh has devices."""

    topology: _Slice


def unchecked(on_chip: OnChip, reason: Reason) -> Finding:
    """Pass if nothing was compiled, which is not the submission's fault; otherwise fail with the compiler's message."""
    if not on_chip.tried:
        return Finding(True, on_chip.fault, checked=False)
    fault = Located(f"On {on_chip.where}, ", f"there is no program to check. {on_chip.fault}")
    return rejected([fault], reason, [])
