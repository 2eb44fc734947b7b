"""Follow arrays through a compiled program, from one step that computes or communicates to the next.

Copies, tuples, slices of an array and other instructions that only pass on what they get are not steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from grader.program.collectives import kind_of
from grader.program.hlo import Computation, Instruction, Module, integers
from grader.program.loops import trip_count
from grader.program.shapes import Shape, ShapeTree, leaves
from grader.program.source_lines import operation_name
from grader.program.tokens import ProgramUnreadable, integer, shown
from grader.program.walk import flat_calls

StepKind = Literal["block", "collective", "loop", "branch", "carried"]
# What a value is computed from, nested like its shape: the number of a step, or -1 - n for argument n of the program.
Value: TypeAlias = "frozenset[int] | tuple[Value, ...]"

_NOTHING: frozenset[int] = frozenset()
_FROM_NOTHING = frozenset("constant iota partition-id replica-id after-all rng-get-and-update-state".split())
_PASSING = frozenset(
    "bitcast bitcast-convert broadcast concatenate convert copy copy-start copy-done domain dynamic-slice "
    "optimization-barrier pad reshape reverse slice transpose".split()
)
_CALLS = frozenset("call async-start".split())
_DEEPEST = 60
# A text of n lines that call one another can mean 2**n instructions. No honest program comes close.
_MOST_VISITS = 200_000
# Steps may take this many arrays in all, each counted once for every step that it comes from.
_MOST_TAKEN = 500_000


@dataclass(frozen=True, slots=True)
class Taken:
    """An array that a step takes: the step or the argument that it comes from, and its form on one device.

    `array` names the instruction that has the array, because one step can return several.
    """

    source: int
    shape: Shape
    array: str


@dataclass(slots=True)
class Step:
    """One step.

    Attributes:
      around: the loop or branch that it is in.
      took: the arrays that it takes. A loop takes what its body uses of what is computed before.
      trips: how often a loop runs each time that it is reached; None if that is unknown.
      is_open: whether the steps of a loop or branch are listed, because it communicates.
      next_round: for a value that a loop carries, the steps that compute it for the next round.
    """

    kind: StepKind
    computation: Computation
    instruction: Instruction
    around: int | None
    took: list[Taken] = field(default_factory=list)
    trips: int | None = None
    is_open: bool = False
    next_round: frozenset[int] = _NOTHING


@dataclass(frozen=True, slots=True)
class Dataflow:
    """The steps of a program in the order in which they run, and what each of its outputs is computed from."""

    steps: tuple[Step, ...]
    outputs: tuple[tuple[Taken, ...], ...]


def follow_data(module: Module) -> Dataflow:
    """Find the steps of a program.

    Raises:
      ProgramUnreadable: its calls are nested too deep, or an instruction uses one that does not exist.
    """
    found = _follow(module, skips_numbers=True)
    return found if found.steps else _follow(module, skips_numbers=False)


def _follow(module: Module, *, skips_numbers: bool) -> Dataflow:
    reader = _Reader(module, skips_numbers)
    entry = module.entry
    given: dict[str, Value] = {}
    for each in entry.instructions.values():
        if each.opcode == "parameter":
            given[each.name] = frozenset((-1 - _number_of(each),))
    root = reader.value_of(entry, given, None, 0)
    made = entry.instructions[entry.root]
    values = root if isinstance(root, tuple) else (root,)
    shapes = made.shape if isinstance(made.shape, tuple) else (made.shape,)
    names = made.operands if made.opcode == "tuple" else [f"{made.name}.{number}" for number in range(len(values))]
    outputs = zip(values, shapes, names, strict=False)
    return Dataflow(tuple(reader.steps), tuple(tuple(_taken(*each)) for each in outputs))


class _Reader:
    """Adds steps in the order in which they run.

    Args:
      skips_numbers: treat arithmetic on single numbers, such as on a count of steps, as passing them on.
    """

    def __init__(self, module: Module, skips_numbers: bool) -> None:
        self._module = module
        self._skips_numbers = skips_numbers
        self.steps: list[Step] = []
        self._communicates: dict[str, bool] = {}
        self._passes: dict[str, bool] = {}
        self._visits = 0
        self._taken = 0

    def value_of(self, computation: Computation, given: dict[str, Value], around: int | None, depth: int) -> Value:
        """Add the steps of a computation. Return what its root is computed from.

        Args:
          given: the values of its parameters, by name.
        """
        if depth > _DEEPEST:
            raise ProgramUnreadable(f"its calls are nested more than {_DEEPEST} deep")
        self._visits += len(computation.instructions)
        if self._visits > _MOST_VISITS:
            raise ProgramUnreadable(f"its calls unfold to more than {_MOST_VISITS} instructions")
        values = dict(given)
        for each in computation.instructions.values():
            if each.name not in values:
                values[each.name] = self._value(computation, each, values, around, depth)
        return values[computation.root]

    def _value(
        self, computation: Computation, each: Instruction, values: dict[str, Value], around: int | None, depth: int
    ) -> Value:
        # Leave out an operand that comes later, which no program that XLA has scheduled has.
        operands = [values.get(name, _NOTHING) for name in each.operands]
        match each.opcode:
            case "tuple":
                return tuple(operands)
            case "get-tuple-element":
                [index] = integers(each.attributes.get("index", ())) or (0,)
                [value] = operands or [_NOTHING]
                if isinstance(value, tuple):
                    return value[index] if index < len(value) else _NOTHING
                return value
            case "while":
                return self._loop(computation, each, operands, around, depth)
            case "conditional" if self._calls_collective(each):
                return self._branches(computation, each, operands, around, depth)
            case opcode if opcode in _CALLS and self._is_inlined(each):
                for _, inner in flat_calls(self._module, each):
                    return self.value_of(inner, _given(inner, operands), around, depth + 1)
            case opcode if opcode in _FROM_NOTHING:
                return _NOTHING
        if each.opcode.endswith(("-done", "-update")) or self._is_passing(each):
            return _joined(operands) if len(operands) != 1 else operands[0]
        kind: StepKind = "collective" if kind_of(each) else "block"
        sources = _joined(operands)
        if kind == "block" and not sources:
            # A value that depends on no argument is a constant.
            return _NOTHING
        shapes = [each.shape, *(found.shape for name in each.operands if (found := computation.instructions.get(name)))]
        if kind == "block" and self._skips_numbers and all(map(_is_number, shapes)):
            return sources
        step = self._add(Step(kind, computation, each, around))
        for name, value in zip(each.operands, operands, strict=True):
            shape = computation.instructions[name].shape if name in computation.instructions else ()
            self.steps[step].took += _taken(value, shape, name)
        self._taken += len(self.steps[step].took)
        if self._taken > _MOST_TAKEN:
            raise ProgramUnreadable(f"its steps take more than {_MOST_TAKEN} arrays")
        made = frozenset((step,))
        # `-start` of some collectives has the form (operands, results).
        is_tuple = isinstance(each.shape, tuple) and not each.opcode.endswith("-start")
        return tuple(made for _ in each.shape) if is_tuple and isinstance(each.shape, tuple) else made

    def _loop(
        self, computation: Computation, loop: Instruction, operands: Sequence[Value], around: int | None, depth: int
    ) -> Value:
        body = next((inner for name, inner in flat_calls(self._module, loop) if name == "body"), None)
        outer, shapes = (operands[0] if operands else _NOTHING), loop.shape
        # XLA writes some operations, such as a scatter, as loops, which nobody wrote in the source.
        is_written = "while" in operation_name(loop.attributes.get("metadata", ())).rpartition("/")[2]
        is_open = self._calls_collective(loop)
        kind: StepKind = "loop" if is_open or is_written else "block"
        if body is None or not isinstance(outer, tuple) or not isinstance(shapes, tuple) or len(outer) != len(shapes):
            step = self._add(Step("block", computation, loop, around, list(_taken(outer, shapes, loop.name))))
            return frozenset((step,))
        trips = trip_count(self._module, computation, loop) if kind == "loop" else None
        step = self._add(Step(kind, computation, loop, around, trips=trips, is_open=is_open))
        carried = [self._add(Step("carried", body, loop, step)) for _ in outer]
        parameter = next((each for each in body.instructions.values() if each.opcode == "parameter"), None)
        # A counter that begins at a constant carries no data.
        inside: Value = tuple(
            _NOTHING if not before and _is_counter(shape) else frozenset((number,))
            for number, before, shape in zip(carried, outer, shapes, strict=True)
        )
        first = len(self.steps)
        given = {} if parameter is None else {parameter.name: inside}
        after = self.value_of(body, given, step, depth + 1)
        rounds = after if isinstance(after, tuple) and len(after) == len(carried) else (_joined([after]),) * len(outer)
        used = {taken.source for each in self.steps[first:] for taken in each.took}
        result: list[Value] = []
        for number, value, before, shape in zip(carried, rounds, outer, shapes, strict=True):
            is_kept = value == frozenset((number,))
            self.steps[number].next_round = _NOTHING if is_kept else _joined([value])
            if number in used or not is_kept:
                self.steps[step].took += _taken(before, shape, f"{loop.name}.{number}")
            result.append(before if is_kept else frozenset((step,)))
        if not is_open:
            del self.steps[step + 1 :]
        if not is_open and not self.steps[step].took:
            del self.steps[step:]
            return tuple(_NOTHING for _ in outer)
        return tuple(result)

    def _branches(
        self, computation: Computation, choice: Instruction, operands: Sequence[Value], around: int | None, depth: int
    ) -> Value:
        step = self._add(Step("branch", computation, choice, around, is_open=True))
        for name, value in zip(choice.operands, operands, strict=True):
            shape = computation.instructions[name].shape if name in computation.instructions else ()
            self.steps[step].took += _taken(value, shape, name)
        for _, inner in flat_calls(self._module, choice):
            enters = self._add(Step("carried", inner, choice, step))
            parameters = (each.name for each in inner.instructions.values() if each.opcode == "parameter")
            self.value_of(inner, dict.fromkeys(parameters, frozenset((enters,))), step, depth + 1)
        return frozenset((step,))

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _is_inlined(self, call: Instruction) -> bool:
        """Whether the steps of a call are those of its caller, because some of them are shown."""
        return self._calls_collective(call) or any(
            each.opcode == "while"
            for _, inner in flat_calls(self._module, call)
            for each in inner.instructions.values()
        )

    def _calls_collective(self, instruction: Instruction) -> bool:
        return any(self._has_collective(inner) for _, inner in flat_calls(self._module, instruction))

    def _has_collective(self, computation: Computation) -> bool:
        known = self._communicates.get(computation.name)
        if known is None:
            # This must not hang on a computation that calls itself, although such a module was refused before.
            self._communicates[computation.name] = False
            known = any(
                kind_of(each) is not None or self._calls_collective(each) for each in computation.instructions.values()
            )
            self._communicates[computation.name] = known
        return known

    def _is_passing(self, instruction: Instruction) -> bool:
        if instruction.opcode == "fusion":
            return all(self._only_passes(inner) for _, inner in flat_calls(self._module, instruction))
        return instruction.opcode in _PASSING

    def _only_passes(self, computation: Computation) -> bool:
        known = self._passes.get(computation.name)
        if known is None:
            moved: set[str] = set()
            known = True
            for each in computation.instructions.values():
                from_data = each.opcode == "parameter" or any(name in moved for name in each.operands)
                if from_data:
                    moved.add(each.name)
                # An index that is computed from a device's number only says which part is passed on.
                if from_data and not (each.opcode in ("parameter", "tuple") or self._is_passing(each)):
                    known = known and _is_number(each.shape)
            self._passes[computation.name] = known
        return known


def _is_number(shape: ShapeTree) -> bool:
    return isinstance(shape, Shape) and shape.elements == 1


def _is_counter(shape: ShapeTree) -> bool:
    return isinstance(shape, Shape) and not shape.dims and shape.dtype[:1] in ("s", "u")


def _given(computation: Computation, operands: Sequence[Value]) -> dict[str, Value]:
    """Return the values of a computation's parameters."""
    found: dict[str, Value] = {}
    for each in computation.instructions.values():
        if each.opcode == "parameter":
            number = _number_of(each)
            found[each.name] = operands[number] if number < len(operands) else _NOTHING
    return found


def _number_of(parameter: Instruction) -> int:
    number = integer("".join(parameter.literal))
    if number is None or number < 0:
        raise ProgramUnreadable(f"the parameter {shown(parameter.name)} has no number")
    return number


def _joined(values: Sequence[Value]) -> frozenset[int]:
    found: set[int] = set()
    for value in values:
        found |= _joined(value) if isinstance(value, tuple) else value
    return frozenset(found)


def _taken(value: Value, shape: ShapeTree, name: str) -> Iterator[Taken]:
    """Yield each array of a value with what it comes from."""
    if isinstance(value, tuple) and isinstance(shape, tuple):
        for number, (part, its_shape) in enumerate(zip(value, shape, strict=False)):
            yield from _taken(part, its_shape, f"{name}.{number}")
        return
    sources = sorted(_joined([value]))
    for each in leaves(shape):
        for source in sources:
            yield Taken(source, each, name)
