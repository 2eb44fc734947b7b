"""Check that the program fits into the memory of a chip at the size of a real model.

It is compiled for the shapes and the mesh of `[program.full_size]`, but never run: for host devices, and for each slice
whose compiler is installed.
"""

from collections import Counter

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import FullSizeProgram, Subject
from grader.checks.topology import FullSizeBounds, together
from grader.checks.wording import Wording, listed, within
from grader.core.chips import slice_of
from grader.core.errors import GraderFault
from grader.core.text import in_bytes
from grader.package.package import ProgramManifest
from grader.program.measurement import Measured, mesh_name
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "Fits on a chip at full size"
TRUST: Trust = "verified"
# Operations that compute nothing. Their number depends on whether a size is 1, such as the rows on a device.
_OF_SHAPES = {"stablehlo.broadcast_in_dim", "stablehlo.constant", "stablehlo.reshape", "stablehlo.transpose"}


class Bounds(FullSizeBounds):
    """`topology` names a slice, or several. The memory of one of its chips is the bound.

    Nothing is run at full size, so its values cannot be compared. Instead, the program must have the operations of the
    small size and do the reference's work: results of the same shapes, `flops_at_least` to `flops_at_most` times the
    FLOPs in matrix products, and at least `sent_at_least` times the bytes that each device sends.
    """

    flops_at_least: float = Field(default=0.7, gt=0, le=1)
    flops_at_most: float = Field(default=1.15, ge=1)
    sent_at_least: float = Field(default=0.7, ge=0, le=1)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    chips = {topology: slice_of(topology)[0] for topology in bounds.topology}
    memories = listed(f"the {in_bytes(chip.hbm_bytes)} of {chip.one}" for chip in chips.values())
    return Wording(
        (f"at full size, a device needs at most {memories}",),
        (
            *(
                "memory of a device, according to the CPU compiler, and to the compiler for "
                f"{topology} if it is installed: at most {chip.hbm_bytes:,} bytes"
                for topology, chip in chips.items()
            ),
            "the program has the same operations as at the small size, and its results have the reference's shapes",
            f"FLOPs in matrix products: {within(bounds.flops_at_least, bounds.flops_at_most)} the reference's",
            f"bytes that a device sends: {within(bounds.sent_at_least, None)} the reference's",
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if every compiler needs at most a chip's memory for the same work. Only slices can stay unchecked."""
    full = subject.full_size
    if full is None:
        raise GraderFault("problem.toml checks the full size and has no [program.full_size]")
    if full.program is None:
        return _without_program(full)
    found = together([_check_on(full, full.program, topology) for topology in bounds.topology])
    if not found.passed:
        return found
    if other := _other_operations(subject.pairs[0].mine, full.program) or _other_work(
        full.reference, full.program, bounds
    ):
        return rejected([Located(_where(full), other)], "too_much_compute", found.evidence)
    return found


def _check_on(full: FullSizeProgram, program: Measured, topology: str) -> Finding:
    chip, _ = slice_of(topology)
    where, on_chip = _where(full), full.on_chip.get(topology)
    rows = [_amount("according to the CPU compiler", program.needed_bytes, chip.hbm_bytes)]
    if on_chip is not None and on_chip.program is not None:
        rows.append(
            _amount(f"according to the compiler for {on_chip.where}", on_chip.program.peak_bytes, chip.hbm_bytes)
        )
    evidence = [
        Amounts(
            mesh=full.reference.mesh,
            title=f"Bytes that a device needs, of the {in_bytes(chip.hbm_bytes)} of {chip.one}",
            unit="bytes",
            whole_title="the chip's memory",
            rows=rows,
        )
    ]
    for row in rows:
        if row.mine is not None and row.mine > chip.hbm_bytes:
            text = (
                f"a device needs {in_bytes(row.mine)} {row.name}. {chip.one[0].upper()}{chip.one[1:]} has "
                f"{in_bytes(chip.hbm_bytes)}. {_parts(program)}"
            )
            return rejected([Located(where, text)], "too_much_memory", evidence)
    if on_chip is not None and on_chip.program is None and on_chip.tried:
        return rejected([Located(f"On {on_chip.where}: ", on_chip.fault)], "too_much_memory", evidence)
    needs = " and ".join(f"{in_bytes(row.mine or 0)} {row.name}" for row in rows)
    text = f"{where}a device needs {needs}, of the {in_bytes(chip.hbm_bytes)} of {chip.one}."
    if on_chip is None:
        text = f"{text} If you submit, it is also compiled for {topology}."
    elif on_chip.program is None:
        text = f"{text} {on_chip.fault}"
    return Finding(True, text, None, evidence)


def _where(full: FullSizeProgram) -> str:
    return f"At full size, on mesh {mesh_name(full.reference.mesh)}, "


def _without_program(full: FullSizeProgram) -> Finding:
    assert full.fault is not None
    text = (
        f"At full size, on mesh {mesh_name(full.reference.mesh)}, there is no program: {full.fault} Take every size "
        "from the shapes of the arguments, and the number of devices from the mesh."
    )
    return Finding(False, text, full.fault.reason)


def _other_operations(small: Measured, program: Measured) -> str:
    """Describe how the program differs from the one at the small size, whose values are checked; empty if not."""
    usual, mine = (_operations(each) for each in (small, program))
    more = {name: mine[name] - usual[name] for name in sorted(usual | mine) if mine[name] != usual[name]}
    pairs = zip(small.facts.inputs, program.facts.inputs, strict=True)
    longer = {after - before for one, other in pairs for before, after in zip(one.shape, other.shape, strict=True)}
    longer.add(program.facts.devices - small.facts.devices)
    # A Python loop, such as one over the layers, adds whole rounds of operations that the small program also has.
    is_loop = any(
        each > 1 and all(number > 0 and number % each == 0 and usual[name] for name, number in more.items())
        for each in longer
    )
    if not more or is_loop:
        return ""
    name = max(more, key=lambda name: abs(more[name]))
    return (
        f"the exported program contains {mine[name]} `{name}`, but {usual[name]} at the small size. Values are checked "
        "only at the small size, so the program must be the same at both: do not make it depend on a size."
    )


def _operations(measured: Measured) -> Counter[str]:
    return Counter({name: count for name, count in measured.facts.operations if name not in _OF_SHAPES})


def _other_work(reference: Measured, program: Measured, bounds: Bounds) -> str:
    """Describe, in a sentence, work that differs from the reference's; empty if none does."""
    if [(each.shape, each.dtype) for each in program.facts.outputs] != [
        (each.shape, each.dtype) for each in reference.facts.outputs
    ]:
        return "the shapes or dtypes of the results differ from the reference's. Compute the same as at the small size."
    mine, usual = (each.facts.census.dot_flops for each in (program, reference))
    if mine is None or not usual:
        return (
            "a matrix product is in a loop that runs an unknown number of times, so the operations cannot be counted."
        )
    if not bounds.flops_at_least * usual <= mine <= bounds.flops_at_most * usual:
        return (
            f"each device computes {mine:,} FLOPs in matrix products, {mine / usual:.3g} times the reference's. "
            f"Between {bounds.flops_at_least:g} and {bounds.flops_at_most:g} times is allowed."
        )
    sent, its = _sent(program), _sent(reference)
    if sent < bounds.sent_at_least * its:
        return (
            f"a device sends {in_bytes(sent)}; in the reference, it sends {in_bytes(its)}. At least "
            f"{bounds.sent_at_least:g} times that is required: with less, a device lacks data that it needs."
        )
    return ""


def _sent(measured: Measured) -> int:
    return sum(each.ring_bytes * (each.executions or 0) for each in measured.facts.census.collectives)


def _parts(program: Measured) -> str:
    memory = program.facts.memory
    return (
        f"Arguments take {in_bytes(memory.argument_bytes)}, results {in_bytes(memory.output_bytes)}, and temporaries "
        f"{in_bytes(memory.temporary_bytes)}, including everything that the forward pass keeps for the backward pass."
    )


def _amount(name: str, needed: int, memory: int) -> Amount:
    return Amount(name=name, mine=needed, reference=None, whole=memory, at_most=memory)
