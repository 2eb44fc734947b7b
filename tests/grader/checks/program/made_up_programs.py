"""Made-up facts of programs that were never compiled, so that a test can meet each bound exactly."""

from collections.abc import Sequence
from math import prod
from typing import Any

from grader.checks.program_subject import Pair, Subject
from grader.package.package import ProgramSpec
from grader.program.arrays import HeldArray, SummedProduct
from grader.program.census import Census
from grader.program.collectives import Collective, Part
from grader.program.dots import Dot
from grader.program.facts import ProgramFacts, ProgramLeaf, WrittenCollective
from grader.program.measurement import Measured
from grader.program.memory import Memory

EIGHT, FOUR = {"x": 8}, {"x": 4}


def split(shape: tuple[int, ...], devices: int) -> ProgramLeaf:
    """A leaf whose first dimension is split over all devices."""
    rows = shape[0] // devices
    rest = tuple((0, size) for size in shape[1:])
    slices = tuple(((rows * device, rows * (device + 1)), *rest) for device in range(devices))
    return ProgramLeaf(shape, "float32", "P('x')", True, slices)


def whole(shape: tuple[int, ...], devices: int) -> ProgramLeaf:
    """A leaf that every device holds whole."""
    return ProgramLeaf(shape, "float32", "P()", True, (tuple((0, size) for size in shape),) * devices)


def uneven() -> ProgramLeaf:
    """A leaf of which one of 8 devices holds 505 of 512 rows, and each of the others one row."""
    edges = [0, 505, *range(506, 513)]
    slices = tuple(((edges[device], edges[device + 1]), (0, 16)) for device in range(8))
    return ProgramLeaf((512, 16), "float32", "P('x')", True, slices)


def part(
    size: int,
    depends: tuple[int, ...],
    carries: tuple[int, ...] = (),
    outputs: tuple[int, ...] = (),
    line: int | None = None,
    *,
    devices: int = 8,
) -> Part:
    """One array of a collective."""
    return Part(size, size * (devices - 1) // devices, depends, carries, outputs, line, None, size)


def exchange(
    kind: str,
    size: int,
    devices: int = 8,
    *,
    depends: tuple[int, ...] = (0,),
    carries: tuple[int, ...] = (0,),
    outputs: tuple[int, ...] = (),
    **changes: Any,
) -> Collective:
    """One collective of `size` logical bytes among all devices, once, outside loops; by default, only of `w`."""
    whole_of_it = part(size, depends, carries, outputs, changes.get("source_line", 7), devices=devices)
    fields: dict[str, Any] = {
        "kind": kind,
        "name": f"{kind}.1",
        "logical_bytes": size,
        "ring_bytes": whole_of_it.ring_bytes,
        "groups": (tuple(range(devices)),),
        "group_size": devices,
        "pairs": (),
        "channel": 1,
        "dtypes": ("f32",),
        "shapes": ((size // 4,),),
        "operand_shapes": ((size // 4 // devices,),),
        "parts": (whole_of_it,),
        "loops": (),
        "executions": 1,
        "conditional": False,
        "asynchronous": False,
        "source_line": 7,
        "constraint_line": None,
        "consumer_line": None,
        "kept_of": None,
        "takes_turns": False,
        "beside_products": True,
    }
    return Collective(**fields | changes)


def product(flops: int = 8_000, line: int | None = 9, **changes: Any) -> Dot:
    """A matrix product of 3 rows, once, outside loops."""
    fields: dict[str, Any] = {
        "name": "dot.1",
        "flops": flops,
        "executions": 1,
        "operand_shapes": ((3, 16), (16, 16)),
        "result_shape": (3, 16),
        "loops": (),
        "conditional": False,
        "source_line": line,
    }
    return Dot(**fields | changes)


def program(
    mesh: dict[str, int],
    *,
    collectives: Sequence[Collective] = (),
    dots: Sequence[Dot] = (),
    flops: int | None = 8_000,
    w: ProgramLeaf | None = None,
    new_w: ProgramLeaf | None = None,
    temporary_bytes: int = 100_000,
    argument_bytes: int | None = None,
    alias_bytes: int | None = None,
    constant_bytes: int = 0,
    written_turns: Sequence[str] = (),
    rounded: Sequence[tuple[int, int]] = (),
    largest_arrays: Sequence[HeldArray] = (),
    summed_products: Sequence[SummedProduct] = (),
    written: Sequence[WrittenCollective] = (),
    products_outside: int = 0,
    operations: dict[str, int] | None = None,
    unstated_products: int = 0,
    retraced: bool | None = False,
) -> Measured:
    """A step with one leaf `w` (512, 16) and one input `x` (24, 16), both split by default; it returns a loss."""
    devices = prod(mesh.values())
    w = w or split((512, 16), devices)
    new_w = new_w or w
    x, loss = split((24, 16), devices), whole((), devices)
    held = max(w.held_bytes(device) for device in range(devices))
    arguments = held + x.held_bytes(0) if argument_bytes is None else argument_bytes
    memory = Memory(arguments, held + 4, temporary_bytes, held if alias_bytes is None else alias_bytes)
    census = Census(
        devices,
        tuple(collectives),
        tuple(dots),
        flops,
        (),
        (),
        (),
        constant_bytes,
        tuple(largest_arrays),
        tuple(summed_products),
    )
    facts = ProgramFacts(
        devices,
        (w, x),
        (new_w, loss),
        memory,
        census,
        tuple(written),
        products_outside,
        1,
        tuple((operations or {}).items()),
        tuple(written_turns),
        unstated_products,
        retraced,
        tuple(rounded),
    )
    return Measured(mesh, facts, None, ("w",), ("x",), ("w", "loss"))


def subject(*pairs: tuple[Measured, Measured]) -> Subject:
    """The input of a check: pairs of the submission's and the reference's program."""
    spec = ProgramSpec(init="init", steps=2, meshes=[EIGHT, FOUR], inputs={"x": ["x"]}, groups={"params": ["w"]})
    return Subject(spec, {}, tuple(Pair(mine, reference) for mine, reference in pairs), ())
