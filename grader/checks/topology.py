"""Shared by checks on a chip's program: the slices in their bounds, and their finding if there is no program."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.core.chips import slice_of
from grader.core.reasons import Reason
from grader.package.package import CheckBounds
from grader.program.on_chip import OnChip
from grader.verdicts.evidence import Amount, Amounts


def _existing(topology: str) -> str:
    slice_of(topology)
    return topology


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Slice = Annotated[str, AfterValidator(_existing)]
_ONE, _SEVERAL = {"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}


# Accept a single slice as a list of one. With a union of types, pydantic would report each fault twice.
_Slices = Annotated[
    list[_Slice],
    Field(min_length=1),
    BeforeValidator(_as_list),
    WithJsonSchema({"anyOf": [_ONE, _SEVERAL]}),
]


class TopologyBounds(CheckBounds):
    """`topology` is one slice such as h100:8, or several. Each gets the program of a mesh with as many devices."""

    topology: _Slices


class AlsoOnChips(CheckBounds):
    """A check on the CPU's program that can, with `[checks.on_chip]`, also bound the programs for slices."""

    on_chip: TopologyBounds | None = None


class FullSizeBounds(CheckBounds):
    """The program is that of `[program.full_size]`; a slice in `topology` has as many chips as its mesh has devices."""

    topology: _Slices


def slices_in(bounds: CheckBounds) -> list[str]:
    """Return the slices for which the check needs a mesh's program."""
    if isinstance(bounds, AlsoOnChips):
        return [] if bounds.on_chip is None else bounds.on_chip.topology
    return bounds.topology if isinstance(bounds, TopologyBounds) else []


def together(findings: Sequence[Finding]) -> Finding:
    """One finding from those on each slice, or on host devices and on each slice: it passes if all do."""
    evidence = [part for each in findings for part in each.evidence]
    failed = [each for each in findings if not each.passed]
    message = "\n".join(each.message for each in failed or findings if each.message)
    checked = any(each.checked for each in findings)
    if not failed:
        return Finding(True, message, None, evidence, checked=checked)
    headlines = dict.fromkeys(headline for each in failed for headline in each.headlines)
    return Finding(False, message, failed[0].reason, evidence, headlines=tuple(headlines))


def amounts_on(
    subject: Subject,
    on_chip: OnChip,
    topology: str,
    what: str,
    rows: Sequence[Amount],
    *,
    unit: Literal["bytes", "operations"],
    whole: str,
) -> Amounts:
    """Return the evidence about a slice. `whole` names the amount that the bars of the rows are shares of."""
    title = f"{what}, on {on_chip.where}"
    return Amounts(mesh=subject.mesh_of(topology), title=title, unit=unit, whole_title=whole, rows=list(rows))


def unchecked(on_chip: OnChip, reason: Reason) -> Finding:
    """Pass if nothing was compiled, which is not the submission's fault; otherwise fail with the compiler's message."""
    if not on_chip.tried:
        return Finding(True, on_chip.fault, checked=False)
    fault = Located(f"On {on_chip.where}, ", f"there is no program to check. {on_chip.fault}")
    return rejected([fault], reason, [])
