"""Find which instructions of a module use each other's results, also across the borders of fusions and calls."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from grader.program.hlo import Computation, Instruction, Module
from grader.program.tokens import integer
from grader.program.walk import flat_calls

Place: TypeAlias = tuple[Computation, Instruction]

# These run what they call once, and pass it their operands.
PASSING = frozenset("fusion call async-start".split())


class DataGraph:
    """The neighbours of instructions. It stops at loops and branches. No computation of the module may call itself."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._users: dict[str, dict[str, list[Instruction]]] = {}
        self._callers: dict[str, list[Place]] = defaultdict(list)
        for computation in module.computations.values():
            for instruction in computation.instructions.values():
                if instruction.opcode in PASSING:
                    for _, inner in flat_calls(module, instruction):
                        self._callers[inner.name].append((computation, instruction))

    def callers(self, computation: Computation) -> list[Place]:
        """The fusions and calls that run a computation."""
        return self._callers[computation.name]

    def used_by(self, computation: Computation, instruction: Instruction) -> Iterator[Place]:
        """Yield what uses a result: in its computation and, if it is the root, in those that call it."""
        if computation.name not in self._users:
            users: dict[str, list[Instruction]] = defaultdict(list)
            for each in computation.instructions.values():
                for name in dict.fromkeys(each.operands):
                    users[name].append(each)
            self._users[computation.name] = users
        for user in self._users[computation.name].get(instruction.name, ()):
            yield computation, user
        if instruction.name == computation.root:
            for caller in self.callers(computation):
                yield from self.used_by(*caller)

    def uses(self, computation: Computation, instruction: Instruction) -> Iterator[Place]:
        """Yield what a result is computed from: for a fusion, its root as well as its operands."""
        if instruction.opcode in PASSING:
            for _, inner in flat_calls(self._module, instruction):
                yield inner, inner.instructions[inner.root]
        elif instruction.opcode == "parameter":
            number = integer("".join(instruction.literal))
            for around, caller in self.callers(computation):
                if number is not None and 0 <= number < len(caller.operands):
                    yield around, around.operand(caller, number)
        for index in range(len(instruction.operands)):
            yield computation, computation.operand(instruction, index)

    def inside(self, instruction: Instruction) -> Iterator[Place]:
        """Yield the instructions that a fusion or call runs."""
        if instruction.opcode in PASSING:
            for _, inner in flat_calls(self._module, instruction):
                for each in inner.instructions.values():
                    yield inner, each

    def parameters_of(self, fusion: Instruction, operand: Instruction) -> Iterator[Place]:
        """Yield the parameters that stand for an operand inside a fusion or call."""
        numbers = {number for number, name in enumerate(fusion.operands) if name == operand.name}
        for inner, each in self.inside(fusion):
            if each.opcode == "parameter" and integer("".join(each.literal)) in numbers:
                yield inner, each
