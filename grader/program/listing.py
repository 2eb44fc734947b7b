"""List a compiled program for people: its computations and instructions, reduced to what they do."""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.program.hlo import Computation, Instruction, Module, Value
from grader.program.shapes import Shape, ShapeTree
from grader.program.walk import flat_calls

MAX_INSTRUCTIONS = 600
LONGEST = 400
# Attributes that name the source, as `line` does, or say how the compiler implements the instruction.
_LEFT_OUT = {
    *("metadata", "backend_config", "frontend_attributes", "sharding", "statistics", "origin"),
    *("kind", "channel_id", "use_global_device_ids", "operand_precision", "algorithm", "custom_call_has_side_effect"),
}
_ROLES = {"body": "body of", "condition": "condition of", "branch_computations": "branch of"}


@dataclass(frozen=True, slots=True)
class ListedInstruction:
    """One instruction. `line` is the innermost line of the submission that led to it."""

    text: str
    line: int | None


@dataclass(frozen=True, slots=True)
class ListedComputation:
    """A computation. `caller` is the first call of it, as in "body of while.3"; empty for the program itself."""

    name: str
    caller: str
    instructions: tuple[ListedInstruction, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The computations of a program: the program itself first, and callers before what they call.

    `left_out` counts the instructions beyond the first 600.
    """

    computations: tuple[ListedComputation, ...]
    left_out: int


def list_program(module: Module, source: str = "submission.py") -> Listing:
    """List the instructions of each computation in printed order, which is the schedule in a compiled program.

    Args:
      source: the name of the file that `line` refers to.
    """
    found: list[ListedComputation] = []
    room, left_out = MAX_INSTRUCTIONS, 0
    for computation, caller in _computations(module):
        listed = []
        for instruction in computation.instructions.values():
            if room == 0:
                left_out += 1
                continue
            room -= 1
            line = module.source.line(instruction.attributes.get("metadata", ()), source)
            root = "ROOT " if instruction.name == computation.root else ""
            listed.append(ListedInstruction((root + _text(instruction))[:LONGEST], line))
        if listed:
            found.append(ListedComputation(computation.name[:LONGEST], caller, tuple(listed)))
    return Listing(tuple(found), left_out)


def _computations(module: Module) -> Iterator[tuple[Computation, str]]:
    """Yield each computation once, with the first instruction that calls it."""
    waiting = [(module.entry, "")]
    seen = {module.entry.name}
    while waiting:
        computation, caller = waiting.pop(0)
        yield computation, caller
        for instruction in computation.instructions.values():
            for attribute, called in flat_calls(module, instruction):
                if called.name not in seen:
                    seen.add(called.name)
                    waiting.append((called, f"{_ROLES.get(attribute, 'called by')} {instruction.name}"[:LONGEST]))


def _text(instruction: Instruction) -> str:
    inside = _joined(instruction.literal) if instruction.literal else ", ".join(instruction.operands)
    kept = [f", {name}={_joined(value)}" for name, value in instruction.attributes.items() if name not in _LEFT_OUT]
    return f"{instruction.name} = {_shape_text(instruction.shape)} {instruction.opcode}({inside}){''.join(kept)}"


def _shape_text(shape: ShapeTree) -> str:
    return str(shape) if isinstance(shape, Shape) else f"({', '.join(map(_shape_text, shape))})"


def _joined(tokens: Value) -> str:
    """Join tokens as HLO prints them: a space between words, none inside brackets or around signs."""
    pieces: list[str] = []
    for before, token in zip(("", *tokens), tokens, strict=False):
        apart = before[-1:].isalnum() and token[:1].isalnum()
        pieces.append(f" {token}" if apart else token)
    return "".join(pieces)
