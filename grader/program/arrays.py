"""Find the largest arrays of a program, and matrix products that are not written as one operation."""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.program.hlo import Computation, Instruction, Module
from grader.program.shapes import Shape, leaves
from grader.program.walk import flat_calls

_MOST = 16
# Operations that only name, join or pass on existing arrays, or bring them in from outside the program.
_NO_ARRAY = frozenset(
    "parameter constant tuple get-tuple-element bitcast while conditional call after-all opt-barrier".split()
)
# Operations that keep each element, or change it without any other.
_ALONG = frozenset("bitcast convert copy reshape transpose".split())
_INSIDE_ONE = {"calls", "to_apply", "select", "scatter"}


@dataclass(frozen=True, slots=True)
class HeldArray:
    """An array that a device holds for a while. `line` is the innermost line of the submission that led to it."""

    dtype: str
    dims: tuple[int, ...]
    bytes: int
    line: int | None


@dataclass(frozen=True, slots=True)
class SummedProduct:
    """A matrix product that is written as a sum over the product of two broadcast arrays."""

    line: int | None


def largest_arrays(module: Module, source: str) -> tuple[HeldArray, ...]:
    """The largest arrays that instructions store, each shape and line once. Arrays inside a fusion are not stored."""
    found: set[HeldArray] = set()
    for computation in _stored(module):
        for instruction in computation.instructions.values():
            if instruction.opcode in _NO_ARRAY:
                continue
            line = module.source.line(instruction.attributes.get("metadata", ()), source)
            for shape in leaves(instruction.shape):
                found.add(HeldArray(shape.dtype, shape.dims, shape.bytes, line))
    ordered = sorted(found, key=lambda each: (-each.bytes, each.dtype, each.dims, each.line or 0))
    return tuple(ordered[:_MOST])


def summed_products(module: Module, source: str) -> tuple[SummedProduct, ...]:
    """The sums over products of two broadcast arrays, each line once, in program order."""
    found = {
        SummedProduct(module.source.line(instruction.attributes.get("metadata", ()), source)): None
        for computation in module.computations.values()
        for instruction in computation.instructions.values()
        if instruction.opcode == "reduce" and _is_product(computation, instruction)
    }
    return tuple(found)[:_MOST]


def _is_product(computation: Computation, reduce: Instruction) -> bool:
    summed = _origin(computation, computation.operand(reduce, 0))
    if summed.opcode != "multiply" or not _is_smaller(reduce, summed):
        return False
    factors = [_origin(computation, computation.operand(summed, index)) for index in (0, 1)]
    return all(
        each.opcode == "broadcast" and 1 < _elements(computation.operand(each, 0)) < _elements(each) for each in factors
    )


def _is_smaller(reduce: Instruction, summed: Instruction) -> bool:
    return 1 < _elements(reduce) < _elements(summed)


def _origin(computation: Computation, instruction: Instruction) -> Instruction:
    while instruction.opcode in _ALONG and instruction.operands:
        instruction = computation.operand(instruction, 0)
    return instruction


def _elements(instruction: Instruction) -> int:
    return instruction.shape.elements if isinstance(instruction.shape, Shape) else 0


def _stored(module: Module) -> Iterator[Computation]:
    """The computations whose results get memory: the program, its loops, its branches and what they call."""
    waiting, seen = [module.entry], {module.entry.name}
    for computation in waiting:
        yield computation
        for instruction in computation.instructions.values():
            for attribute, inner in flat_calls(module, instruction):
                inside = attribute in _INSIDE_ONE and instruction.opcode not in ("call", "async-start")
                if not inside and inner.name not in seen:
                    seen.add(inner.name)
                    waiting.append(inner)
