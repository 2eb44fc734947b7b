"""Divide a collective of one flat buffer into the arrays that XLA's compiler for GPUs concatenated in it.

It combines all_reduces, such as those of gradients, by concatenating their operands, and gives the concatenation no
metadata. Its operands still lead to the lines that computed them.
"""

from dataclasses import replace

from grader.program.collectives import Collective
from grader.program.data_graph import PASSING, Place
from grader.program.hlo import Computation, Instruction, Module
from grader.program.nearby_lines import NearbyLines
from grader.program.shapes import leaves
from grader.program.walk import flat_calls

_MOST_PARTS = 4096
# Between the concatenation and the collective, XLA only renames the buffer.
_RENAMING = frozenset({"bitcast", "reshape", "copy"})


def divided(collective: Collective, module: Module, lines: NearbyLines, place: Place) -> Collective:
    """Return the collective with a part for each array in its buffer, or as it is if the buffer is one array.

    Args:
      place: the computation and the instruction of the collective.
    """
    computation, instruction = place
    if len(collective.parts) != 1 or len(instruction.operands) != 1:
        return collective
    found = _concatenation(module, computation, computation.operand(instruction, 0))
    if found is None or len(found[1].operands) > _MOST_PARTS:
        return collective
    around, concatenation = found
    operands = [around.operand(concatenation, number) for number in range(len(concatenation.operands))]
    sizes = [sum(shape.bytes for shape in leaves(each.shape)) for each in operands]
    if len(sizes) < 2 or sum(sizes) != collective.logical_bytes:
        return collective
    [whole] = collective.parts
    parts, sent = [], 0
    for number, (each, size) in enumerate(zip(operands, sizes, strict=True)):
        # Rounding leaves a few bytes, which the last part takes, so that the parts add up.
        is_last = number == len(sizes) - 1
        ring = collective.ring_bytes - sent if is_last else collective.ring_bytes * size // collective.logical_bytes
        sent += ring
        line = lines.made_by(around, each)
        parts.append(replace(whole, logical_bytes=size, ring_bytes=ring, written_bytes=size, source_line=line))
    largest = max(parts, key=lambda part: part.logical_bytes)
    return replace(collective, parts=tuple(parts), source_line=largest.source_line)


def _concatenation(module: Module, computation: Computation, instruction: Instruction) -> Place | None:
    """The concatenation that makes a buffer, alone or as the root of a fusion; None if anything else does."""
    while instruction.opcode in _RENAMING:
        instruction = computation.operand(instruction, 0)
    if instruction.opcode == "concatenate":
        return computation, instruction
    if instruction.opcode not in PASSING:
        return None
    for _, inner in flat_calls(module, instruction):
        root = inner.instructions[inner.root]
        while root.opcode in _RENAMING:
            root = inner.operand(root, 0)
        if root.opcode == "concatenate":
            return inner, root
    return None
