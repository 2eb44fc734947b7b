"""Find out which collectives in a loop can overlap with matrix products of the same round, and which take turns."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from grader.program.dots import is_dot
from grader.program.hlo import Computation, Instruction, Module
from grader.program.walk import Site, flat_calls

_Place: TypeAlias = tuple[Computation, Instruction]


class Rounds:
    """The rounds of a program's loops. No computation may call itself."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._callers: dict[str, list[_Place]] = defaultdict(list)
        self._bodies: set[str] = set()
        self._with_products: dict[str, bool] = {}
        for computation in module.computations.values():
            for instruction in computation.instructions.values():
                for _, inner in flat_calls(module, instruction):
                    self._callers[inner.name].append((computation, instruction))
                    if instruction.opcode == "while":
                        self._bodies.add(inner.name)

    def takes_turns(self, site: Site) -> bool:
        """Whether, in one round of a loop, a matrix product needs a collective's result or computes its operand.

        Then no scheduler can run the two at the same time. Values that leave the round in the loop's carry make nothing
        wait. A fusion or an inner loop counts as one instruction. False outside loops.
        """
        if not site.loops:
            return False
        start = site.computation, site.instruction
        return self._meets_product(start, forward=True) or self._meets_product(start, forward=False)

    def has_product(self, site: Site) -> bool:
        """Whether the innermost loop around a collective also computes matrix products. False outside loops."""
        waiting = [site.computation] if site.loops else []
        seen = {each.name for each in waiting}
        for computation in waiting:
            if self._computation_has_product(computation):
                return True
            if computation.name not in self._bodies:
                callers = [caller for caller, _ in self._callers[computation.name] if caller.name not in seen]
                seen.update(caller.name for caller in callers)
                waiting += callers
        return False

    def _meets_product(self, start: _Place, *, forward: bool) -> bool:
        waiting = [start]
        seen = {(start[0].name, start[1].name)}
        for computation, instruction in waiting:
            beside = self._users(computation, instruction) if forward else self._operands(computation, instruction)
            found = [(computation, each) for each in beside]
            if any(self._has_product(each) for _, each in found):
                return True
            leaves = instruction.name == computation.root if forward else instruction.opcode == "parameter"
            if leaves and computation.name not in self._bodies:
                # The caller contains the collective. Its other instructions do not wait for it.
                found += self._callers[computation.name]
            for place in found:
                key = place[0].name, place[1].name
                if key not in seen:
                    seen.add(key)
                    waiting.append(place)
        return False

    def _users(self, computation: Computation, instruction: Instruction) -> Iterable[Instruction]:
        return [each for each in computation.instructions.values() if instruction.name in each.operands]

    def _operands(self, computation: Computation, instruction: Instruction) -> Iterable[Instruction]:
        return [computation.operand(instruction, index) for index in range(len(instruction.operands))]

    def _has_product(self, instruction: Instruction) -> bool:
        return is_dot(instruction) or any(
            self._computation_has_product(inner) for _, inner in flat_calls(self._module, instruction)
        )

    def _computation_has_product(self, computation: Computation) -> bool:
        if computation.name not in self._with_products:
            self._with_products[computation.name] = any(
                self._has_product(each) for each in computation.instructions.values()
            )
        return self._with_products[computation.name]
