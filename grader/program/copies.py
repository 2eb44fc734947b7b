"""Find the asynchronous copies between the memories of a TPU in the order of its schedule.

The compiler brings data into on-chip memory before an operation reads it there, and takes it back, while the chip
computes something else.
"""

from collections.abc import Iterator
from dataclasses import replace

from grader.program.hlo import Computation, Instruction, Module
from grader.program.nearby_lines import NearbyLines
from grader.program.schedule import ScheduledCopy
from grader.program.shapes import Shape, leaves
from grader.program.walk import flat_calls

_COPIES = frozenset("copy slice dynamic-slice dynamic-update-slice".split())
# Memory spaces of layouts that libtpu writes.
_SPACES = {0: "HBM", 1: "on-chip memory", 5: "host memory"}
# Instructions that a copy may pass through between its start and the wait for it.
_PASSED_ON = frozenset("get-tuple-element tuple bitcast async-update".split())


class CopyReader:
    """Collects the copies of one computation. Pass its instructions to `read` in their order."""

    def __init__(self, module: Module, lines: NearbyLines, computation: Computation) -> None:
        self._module, self._lines, self._computation = module, lines, computation
        self._numbers: dict[str, int] = {}
        self.found: list[ScheduledCopy] = []

    def read(self, instruction: Instruction, step: int) -> bool:
        """Record a copy that the instruction starts or waits for. Return whether it does either.

        Args:
          step: how many steps there are before it.
        """
        if instruction.opcode.endswith("-done"):
            number = next((self._numbers[name] for name in self._origins(instruction) if name in self._numbers), None)
            if number is not None:
                self.found[number] = replace(self.found[number], done=step)
            return number is not None
        if not instruction.opcode.endswith("-start") or self._copied_by(instruction) is None:
            return False
        places = _places(instruction, str(self._copied_by(instruction)))
        if places is not None:
            source, target, moved = places
            self._numbers[instruction.name] = len(self.found)
            # A copy whose result nothing uses in this computation keeps the line of what it copies.
            line = self._lines.of_use(self._computation, instruction)
            self.found.append(ScheduledCopy(str(moved), moved.bytes, _space(source), _space(target), line, step, None))
        return places is not None

    def _copied_by(self, instruction: Instruction) -> str | None:
        """The operation that a start runs, if it only copies."""
        name = instruction.opcode.removesuffix("-start")
        if name == "async":
            roots = [inner.instructions[inner.root].opcode for _, inner in flat_calls(self._module, instruction)]
            name = roots[0] if len(roots) == 1 else ""
        return name if name in _COPIES else None

    def _origins(self, instruction: Instruction) -> Iterator[str]:
        waiting, seen = list(instruction.operands), set(instruction.operands)
        for name in waiting:
            yield name
            found = self._computation.instructions.get(name)
            if found is not None and found.opcode in _PASSED_ON:
                waiting.extend(new for new in dict.fromkeys(found.operands) if new not in seen)
                seen.update(found.operands)


def _places(start: Instruction, copied_by: str) -> tuple[Shape, Shape, Shape] | None:
    """Return the source of a copy, its target, and the array that moves. A copy-start has the shape (target, source,
    …), others have (operands, target, …)."""
    shape = start.shape
    if isinstance(shape, Shape) or len(shape) < 2:
        return None
    first, second = next(leaves(shape[0]), None), next(leaves(shape[1]), None)
    if first is None or second is None:
        return None
    if start.opcode == "copy-start":
        return second, first, first
    # The second operand of a dynamic-update-slice is written into a part of the first.
    operands = list(leaves(shape[0]))
    moved = operands[1] if copied_by == "dynamic-update-slice" and len(operands) > 1 else second
    return (moved if copied_by == "dynamic-update-slice" else first), second, moved


def _space(shape: Shape) -> str:
    return _SPACES.get(shape.space, f"memory {shape.space}")
