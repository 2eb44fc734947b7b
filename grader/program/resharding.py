"""Explain the collectives with which the partitioner moves an array from one sharding to another."""

from dataclasses import replace
from math import prod

from grader.program.collectives import Collective, kind_of
from grader.program.data_graph import Place
from grader.program.dots import is_dot
from grader.program.hlo import Computation, Instruction
from grader.program.nearby_lines import NearbyLines
from grader.program.shapes import Shape
from grader.program.sharding_constraints import ShardingConstraint
from grader.program.stablehlo import ExportedProgram
from grader.program.walk import Site

_MOVING = {"all-gather", "all-to-all", "collective-permute"}
# Operations that keep each element of an array, and add none.
_ALONG = frozenset("copy bitcast reshape transpose convert".split())
_MIXING = {"reduce", "reduce-window", "scatter", "sort", "while", "conditional"}
_MOST_STEPS = 200


class Reshards:
    """Explains such collectives of one module.

    Args:
      exported: the program before it was compiled.
      devices: how many run it.
    """

    def __init__(self, lines: NearbyLines, exported: ExportedProgram, devices: int) -> None:
        self._lines = lines
        self._graph = lines.graph
        self._constraints = exported.constraints
        self._written = {each.channel for each in exported.collectives}
        self._devices = devices

    def explain(self, site: Site, found: Collective) -> Collective:
        """Fill in `constraint_line`, `consumer_line` and `kept_of`, as far as the program shows them."""
        if found.kind not in _MOVING or found.channel in self._written or found.group_size == 1:
            return found
        place = site.computation, site.instruction
        constraint, consumer = self._between(place, found)
        kept_of = self._kept_of(place) if found.kind == "all-gather" else None
        return replace(found, constraint_line=constraint, consumer_line=consumer, kept_of=kept_of)

    def _between(self, place: Place, found: Collective) -> tuple[int | None, int | None]:
        """Return the line of the only constraint that can be about this array, and the only line that uses it there."""
        own = {found.source_line} - {None}
        before = own | self._lines_on(place, own, forward=False)
        after = self._lines_on(place, own, forward=True)
        fitting = [
            each
            for each in self._constraints
            if self._has_its_size(each, found)
            and (each.line in own or _makes(each, before, found))
            and (each.used_by & (own | after) if each.used_by else not after)
        ]
        # If one constraint follows another, what moves in between has the line of either.
        fitting = [each for each in fitting if each.line in own] or fitting
        if len({each.line for each in fitting}) != 1:
            return None, None
        uses = {line for each in fitting for line in each.used_by & (own | after)}
        return fitting[0].line, uses.pop() if len(uses) == 1 else None

    def _has_its_size(self, constraint: ShardingConstraint, found: Collective) -> bool:
        """Whether the array of a constraint may be the one that the devices hold parts of."""
        elements = sum(map(prod, found.operand_shapes))
        return elements > 0 and constraint.elements in {elements * parts for parts in range(1, self._devices + 1)}

    def _lines_on(self, place: Place, own: set[int | None], *, forward: bool) -> set[int | None]:
        """Find the first other lines that lead to an array, or to which it leads unchanged or changed elementwise."""
        waiting, seen, lines = [place], {(place[0].name, place[1].name)}, set[int | None]()
        for computation, instruction in waiting:
            ways = self._graph.used_by if forward else self._graph.uses
            for around, each in ways(computation, instruction):
                key = around.name, each.name
                if key in seen or len(waiting) == _MOST_STEPS or each.opcode == "partition-id":
                    continue
                seen.add(key)
                line = self._lines.own(each)
                if line is not None and line not in own:
                    lines.add(line)
                elif not self._mixes(each):
                    waiting.append((around, each))
        return lines

    def _mixes(self, instruction: Instruction) -> bool:
        """Whether an instruction computes another array, each element of which depends on many elements."""
        if is_dot(instruction) or instruction.opcode in _MIXING:
            return True
        return any(self._mixes(each) for _, each in self._graph.inside(instruction))

    def _kept_of(self, place: Place) -> int | None:
        """The number of parts of which a device keeps one, if all uses slice the array by the device's number."""
        parts: set[int] = set()
        waiting, seen = [place], {(place[0].name, place[1].name)}
        for computation, instruction in waiting:
            users = list(self._graph.used_by(computation, instruction))
            if not users or len(waiting) > _MOST_STEPS:
                return None
            for around, user in users:
                if user.opcode == "dynamic-slice" and user.operands[0] == instruction.name:
                    if not self._depends_on_device(around, user):
                        return None
                    parts.add(_elements(instruction) // max(_elements(user), 1))
                    continue
                further = [(around, user)]
                if user.opcode == "fusion":
                    further = list(self._graph.parameters_of(user, instruction))
                elif user.opcode not in _ALONG and kind_of(user) != "all-gather":
                    return None
                for next_place in further:
                    key = next_place[0].name, next_place[1].name
                    if key not in seen:
                        seen.add(key)
                        waiting.append(next_place)
        kept = min(parts, default=1)
        return kept if kept > 1 else None

    def _depends_on_device(self, computation: Computation, piece: Instruction) -> bool:
        """Whether the number of the device decides where a slice begins."""
        waiting = [(computation, computation.operand(piece, index)) for index in range(1, len(piece.operands))]
        seen = {(around.name, each.name) for around, each in waiting}
        for around, instruction in waiting:
            if instruction.opcode == "partition-id":
                return True
            for place in self._graph.uses(around, instruction):
                key = place[0].name, place[1].name
                if key not in seen and len(waiting) < _MOST_STEPS:
                    seen.add(key)
                    waiting.append(place)
        return False


def _makes(constraint: ShardingConstraint, before: set[int | None], found: Collective) -> bool:
    """Whether the array of a constraint is computed on one of these lines, or is the argument that is sent."""
    if constraint.argument is None:
        return constraint.made_by in before
    return {part.carries for part in found.parts} == {(constraint.argument,)}


def _elements(instruction: Instruction) -> int:
    return instruction.shape.elements if isinstance(instruction.shape, Shape) else 0
