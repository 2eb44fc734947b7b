"""Find the source line of an instruction that has lost its own, from the instructions around it.

XLA merges collectives of one kind into one instruction, which keeps the line of one of them, and some of its rewrites
drop the line of what they replace.
"""

from collections.abc import Iterable, Iterator

from grader.program.data_graph import DataGraph, Place
from grader.program.hlo import Computation, Instruction, Module, integers
from grader.program.walk import flat_calls

# Instructions that are farther away have little to do with this one.
_MOST_STEPS = 64
# Instructions that compute nothing from the program's data.
_UNRELATED = frozenset("constant iota partition-id replica-id after-all".split())
_ENDS = ("-done", "-update")
# What only gives an array another name, or makes it known in a fusion.
_RENAMING = frozenset({"bitcast", "reshape", "copy", "parameter"})


class NearbyLines:
    """The lines of one file, by the instructions that they led to.

    Args:
      module: a module in which no computation calls itself.
      source: the name of the file.
    """

    def __init__(self, module: Module, source: str) -> None:
        self._module = module
        self._source = source
        self.graph = DataGraph(module)

    def own(self, instruction: Instruction) -> int | None:
        """The line in an instruction's metadata."""
        return self._module.source.line(instruction.attributes.get("metadata", ()), self._source)

    def of_use(self, computation: Computation, instruction: Instruction) -> int | None:
        """The line of the nearest instruction that uses a result; without one, of the nearest that computes it."""
        ways = (self._along([(computation, instruction)], forward=forward) for forward in (True, False))
        return next((line for way in ways for _, line in way), None)

    def made_by(self, computation: Computation, instruction: Instruction) -> int | None:
        """The line of the nearest instruction that a result is computed by, which may be this one or inside a loop."""
        place: Place | None = computation, instruction
        found = None
        for _ in range(_MOST_STEPS):
            if place is None:
                break
            # The last round of a loop tells more of what it returns than the loop itself.
            found = next((line for _, line in self._along([place], forward=False)), None) or found
            place = self._in_last_round(*place)
        return found

    def _in_last_round(self, computation: Computation, instruction: Instruction) -> Place | None:
        """What computes the result of a loop in its body; None for any other instruction."""
        for _ in range(_MOST_STEPS):
            before = next(self.graph.uses(computation, instruction), None) if instruction.opcode in _RENAMING else None
            if before is None:
                break
            computation, instruction = before
        index = integers(instruction.attributes.get("index", ()))
        if instruction.opcode != "get-tuple-element" or len(index) != 1:
            return None
        loop = computation.operand(instruction, 0)
        if loop.opcode != "while":
            return None
        bodies = [inner for attribute, inner in flat_calls(self._module, loop) if attribute == "body"]
        root = bodies[0].instructions[bodies[0].root] if bodies else loop
        if root.opcode != "tuple" or index[0] >= len(root.operands):
            return None
        return bodies[0], bodies[0].operand(root, index[0])

    def of_operands(self, computation: Computation, instruction: Instruction) -> tuple[int | None, ...]:
        """For each operand of a collective, the line of the collective that sent it before XLA merged several.

        An element of the result often still has it. Otherwise, it is the line that computes the operand, or uses the
        result.
        """
        own = self.own(instruction) or self._around(computation)
        count = len(instruction.operands)
        # XLA merges no all-to-alls: their operands are pieces of one array.
        if own is not None and (count == 1 or instruction.opcode.startswith("all-to-all")):
            return (own,) * count
        return tuple(self._of_operand(computation, instruction, index) or own for index in range(count))

    def _of_operand(self, computation: Computation, collective: Instruction, index: int) -> int | None:
        elements = list(self._elements(computation, collective, index))
        for _, element in elements:
            line = self.own(element)
            if line is not None:
                return line
        operand = computation, computation.operand(collective, index)
        made_by, used_by = self._along([operand], forward=False), self._along(elements, forward=True)
        return next((line for _, line in (*made_by, *used_by)), None)

    def near(self, computation: Computation, instruction: Instruction) -> list[tuple[int, int]]:
        """Return distances and lines, nearest first: of the fusion around it, of what uses it, and of what it uses."""
        around = self._around(computation)
        ways = [(0, around)] if around is not None else []
        for forward in (True, False):
            ways += self._along([(computation, instruction)], forward=forward)
        return sorted(ways, key=lambda way: way[0])

    def _elements(self, computation: Computation, collective: Instruction, index: int) -> Iterator[Place]:
        """Yield what takes an element out of the result, which is that of the `-done` of an asynchronous collective."""
        waiting = [(computation, collective)]
        if len(collective.operands) == 1:
            yield from waiting
            return
        for place in waiting:
            for around, user in self.graph.used_by(*place):
                if user.opcode.endswith(_ENDS):
                    waiting.append((around, user))
                elif user.opcode == "get-tuple-element" and integers(user.attributes.get("index", ())) == (index,):
                    yield around, user

    def _around(self, computation: Computation) -> int | None:
        """The line of the fusion or call that an instruction is in."""
        lines = (self.own(caller) for _, caller in self.graph.callers(computation))
        return next((line for line in lines if line is not None), None)

    def _along(self, places: Iterable[Place], *, forward: bool) -> Iterator[tuple[int, int]]:
        """Yield distances and lines of these instructions, then of those that use them, or that they use, and so on."""
        waiting = [(0, *place) for place in places]
        seen = {(computation.name, instruction.name) for _, computation, instruction in waiting}
        for distance, computation, instruction in waiting:
            line = None if instruction.opcode in _UNRELATED else self.own(instruction)
            if line is not None:
                yield distance, line
            ways = self.graph.used_by if forward else self.graph.uses
            for place in ways(computation, instruction):
                key = place[0].name, place[1].name
                if key not in seen and len(waiting) < _MOST_STEPS:
                    seen.add(key)
                    waiting.append((distance + 1, *place))
