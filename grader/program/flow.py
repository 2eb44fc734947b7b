"""Follow data through a program, from its arguments to each collective, and from each collective to its outputs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from grader.program.dots import is_dot
from grader.program.hlo import Computation, Instruction, Module, integers, reference
from grader.program.padding import is_zero
from grader.program.received_arrays import (
    NONE,
    Received,
    contracted,
    dims_of,
    put_into,
    reshaped,
    summed,
    transposed,
)
from grader.program.shapes import Shape, ShapeTree, leaves
from grader.program.tokens import ProgramUnreadable, integer, shown

# The most instructions to evaluate, including repeated ones. The largest program of our problems needs a hundredth.
_MOST_STEPS = 1_000_000
_MOST_ROUNDS = 16


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an array comes from: sets of the program's arguments (bit n is argument n) and of received arrays.

    Attributes:
      depends: arguments that influence it, even through a branch or a loop's trip count.
      carries: arguments whose elements it contains one by one, moved, cast or changed elementwise. A matrix product or
        a sum ends this: a gradient depends on the batch, but does not carry it.
      received: results of collectives of which each element became at most one of its elements, moved, cast, changed
        or added to others. A broadcast element, such as a norm that scales a gradient, does not count, nor does what is
        multiplied by zero.
    """

    depends: int = 0
    carries: int = 0
    received: Received = NONE

    def __or__(self, other: "Origin") -> "Origin":
        return Origin(self.depends | other.depends, self.carries | other.carries, self.received | other.received)


# The origin of an array, or the origins of a tuple's elements.
Value: TypeAlias = "Origin | tuple[Value, ...]"
# A computation and an instruction in it.
Place: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Flow:
    """The origin of each operand of an instruction, and the program's outputs in which its elements arrive.

    `outputs` is a set: bit n is output n. An element arrives if an output element is computed from it elementwise, as a
    new parameter is from its gradient. `arriving` is the part of the elements that arrive, over all outputs together.
    """

    origins: dict[Place, tuple[Origin, ...]]
    outputs: dict[Place, tuple[int, ...]]
    arriving: dict[Place, tuple[float, ...]]


_NOTHING = Origin()
_SOURCES = {"constant", "iota", "partition-id", "replica-id", "after-all", "rng-get-and-update-state"}
_PASSING = {"copy", "copy-start", "copy-done", "optimization-barrier", "opt-barrier"}
_ENDS = ("-done", "-update")
_INNER = {"call": "to_apply", "fusion": "calls", "async-start": "calls"}
# The operands that contain data. The others say where elements go.
_CONTENT = {"gather": slice(1), "dynamic-slice": slice(1), "dynamic-update-slice": slice(2)}
_REDUCING = {"reduce", "reduce-window", "select-and-scatter"}
# Collectives with one result per operand, in the same order.
_ONE_BY_ONE = {"all-gather", "all-reduce", "reduce-scatter", "collective-permute", "collective-broadcast"}


def follow(module: Module, wanted: Callable[[Instruction], bool]) -> Flow:
    """Follow every argument of the entry computation to the `wanted` instructions, and from these to its outputs.

    Returns:
      One entry per instruction, for all its executions together. Instructions of computations that only reduce, sort or
      map elements are missing.
    Raises:
      ProgramUnreadable: an instruction uses a later one, or the program unfolds to too many instructions.
    """
    return _Evaluator(module, wanted).run()


class _Evaluator:
    """Runs a program on origins instead of numbers. No computation may call itself, which the walk guarantees."""

    def __init__(self, module: Module, wanted: Callable[[Instruction], bool]) -> None:
        self.module = module
        self.wanted = wanted
        self.steps = 0
        self.found: dict[Place, tuple[Origin, ...]] = {}
        # The first bit of each wanted instruction; every operand has its own bit.
        self.received: dict[Place, int] = {}
        # The number of elements of each received array on one device.
        self.sizes: list[int] = []
        self.results: dict[tuple[str, tuple[Value, ...]], Value] = {}

    def run(self) -> Flow:
        entry = self.module.entry
        number = sum(each.opcode == "parameter" for each in entry.instructions.values())
        results = self._call(entry, tuple(Origin(1 << index, 1 << index) for index in range(number)))
        arrived = [_union([each]).received for each in (results if isinstance(results, tuple) else (results,))]
        outputs, arriving = {}, {}
        for place, first in self.received.items():
            arrays = range(first, first + len(self.found[place]))
            outputs[place] = tuple(
                sum(1 << number for number, received in enumerate(arrived) if received.arrays >> array & 1)
                for array in arrays
            )
            arriving[place] = tuple(
                sum(received.elements(array, self.sizes) for received in arrived) / max(1, self.sizes[array])
                for array in arrays
            )
        return Flow(self.found, outputs, arriving)

    def _call(self, computation: Computation, arguments: tuple[Value, ...]) -> Value:
        key = computation.name, arguments
        if key not in self.results:
            values: dict[str, Value] = {}
            for instruction in computation.instructions.values():
                self.steps += 1
                if self.steps > _MOST_STEPS:
                    raise ProgramUnreadable(f"its data takes more than {_MOST_STEPS} steps to follow")
                values[instruction.name] = self._value(computation, instruction, arguments, values)
            self.results[key] = values[computation.root]
        return self.results[key]

    def _value(
        self, computation: Computation, instruction: Instruction, arguments: tuple[Value, ...], values: dict[str, Value]
    ) -> Value:
        opcode = instruction.opcode
        if opcode == "parameter":
            number = integer("".join(instruction.literal))
            if number is None or not 0 <= number < len(arguments):
                raise ProgramUnreadable(f"{shown(instruction.name)} is a parameter that no call gives")
            return _shaped(instruction.shape, arguments[number])
        try:
            operands = [values[name] for name in instruction.operands]
        except KeyError as error:
            raise ProgramUnreadable(
                f"{shown(instruction.name)} uses {shown(str(error.args[0]))} before it is there"
            ) from None
        if self.wanted(instruction):
            return self._received(computation, instruction, operands)
        if opcode == "tuple":
            return tuple(operands)
        if opcode == "get-tuple-element":
            return _element(operands[0], instruction) if operands else _NOTHING
        if opcode == "while":
            return self._loop(instruction, operands)
        if opcode == "conditional":
            return self._branch(instruction, operands)
        if opcode in _INNER:
            return self._call(self._named(instruction, _INNER[opcode]), tuple(operands))
        if (opcode in _PASSING or opcode.endswith(_ENDS)) and len(operands) == 1:
            return operands[0]
        return _shaped(instruction.shape, self._computed(computation, instruction, operands))

    def _computed(self, computation: Computation, instruction: Instruction, operands: list[Value]) -> Value:
        opcode = instruction.opcode.removesuffix("-start")
        if opcode in _SOURCES:
            return _NOTHING
        if opcode in _ONE_BY_ONE and len(operands) > 1:
            return tuple(operands)
        whole = _union(operands)
        content = _CONTENT.get(opcode)
        if content is not None or opcode == "scatter":
            # A scatter's operands are n arrays, the indices, and n updates.
            moved = (
                operands[content] if content else [*operands[: len(operands) // 2], *operands[len(operands) // 2 + 1 :]]
            )
            held = _union(moved)
            whole = replace(whole, carries=held.carries)
        elif is_dot(instruction) or (opcode in _REDUCING and _changes_size(computation, instruction)):
            whole = replace(whole, carries=0)
        return replace(whole, received=self._kept(computation, instruction, operands))

    def _kept(self, computation: Computation, instruction: Instruction, operands: list[Value]) -> Received:
        """The received arrays that the result of an operation contains element by element."""
        arrays = [_union([each]).received for each in operands]
        if not any(each.arrays for each in arrays):
            return NONE
        opcode, result = instruction.opcode.removesuffix("-start"), dims_of(instruction.shape)
        dims = [dims_of(computation.operand(instruction, index).shape) for index in range(len(arrays))]
        if opcode == "compare" or (
            opcode == "multiply" and any(is_zero(computation, each) for each in instruction.operands)
        ):
            return NONE
        if is_dot(instruction):
            kept = contracted(instruction, list(zip(arrays, dims, strict=True)))
        elif opcode == "reduce":
            # Half of the operands are the initial values of the sums.
            kept = _either(summed(each, instruction, before) for each, before in zip(arrays, dims, strict=True))
        elif opcode in ("broadcast", *_REDUCING) and _changes_size(computation, instruction):
            return NONE
        elif opcode in ("reshape", "bitcast"):
            kept = reshaped(arrays[0], dims[0], result)
        elif opcode == "transpose":
            kept = transposed(arrays[0], instruction)
        elif opcode == "concatenate":
            kept = NONE
            for each, before in zip(arrays, dims, strict=True):
                kept = kept.beside(put_into(each, before, result), self.sizes)
        elif opcode in ("dynamic-update-slice", "pad"):
            pieces = (0,) if opcode == "pad" else (0, 1)
            kept = _either(put_into(arrays[index], dims[index], result) for index in pieces if index < len(arrays))
        elif opcode == "scatter":
            updates = len(arrays) // 2
            kept = _either(each.without_dims() for each in (*arrays[:updates], *arrays[updates + 1 :]))
        elif opcode == "gather":
            kept = arrays[0].without_dims()
        elif opcode in ("slice", "dynamic-slice"):
            kept = arrays[0]
        else:
            kept = _either(arrays)
        # If there are several results, each contains what all operands contain.
        elements = sum(each.elements for each in leaves(instruction.shape))
        return kept.at_most(elements, self.sizes) if kept.arrays and elements < max(map(prod, dims)) else kept

    def _received(self, computation: Computation, instruction: Instruction, operands: list[Value]) -> Value:
        """The result of a wanted instruction: new received arrays, which are followed to the outputs."""
        self._note(computation, instruction, operands)
        place = computation.name, instruction.name
        if place not in self.received:
            self.received[place] = len(self.sizes)
            self.sizes += _sizes(instruction, len(operands))
        # An array that was reduced before, such as over another axis, arrives wherever this one does.
        first = self.received[place]
        arrays = [_with_received(operand, Received(1 << first + index)) for index, operand in enumerate(operands)]
        return _shaped(instruction.shape, self._computed(computation, instruction, arrays))

    def _note(self, computation: Computation, instruction: Instruction, operands: list[Value]) -> None:
        key = computation.name, instruction.name
        met = tuple(_union([operand]) for operand in operands)
        before = self.found.get(key, (_NOTHING,) * len(met))
        self.found[key] = tuple(one | other for one, other in zip(before, met, strict=True))

    def _loop(self, instruction: Instruction, operands: list[Value]) -> Value:
        condition, body = (self._named(instruction, name) for name in ("condition", "body"))
        state: Value = operands[0] if len(operands) == 1 else _union(operands)
        for number in range(_MOST_ROUNDS + 1):
            rounds = _union([self._call(condition, (state,))])
            after = _also(_joined(state, self._call(body, (state,))), rounds)
            if after == state:
                break
            # A value that still changes moves around a long tuple. The union of all elements is a bound for each.
            state = after if number < _MOST_ROUNDS - 1 else _shaped(instruction.shape, _union([after]))
        return state

    def _branch(self, instruction: Instruction, operands: list[Value]) -> Value:
        names = [
            token
            for attribute in ("branch_computations", "true_computation", "false_computation")
            for token in instruction.attributes.get(attribute, ())
            if reference(token) in self.module.computations
        ]
        if len(names) != len(operands) - 1 or not names:
            raise ProgramUnreadable(f"{shown(instruction.name)} does not have one operand for each branch")
        branches = [self.module.computations[reference(name)] for name in names]
        results = [self._call(branch, (operand,)) for branch, operand in zip(branches, operands[1:], strict=True)]
        joined = results[0]
        for result in results[1:]:
            joined = _joined(joined, result)
        return _also(joined, _union(operands[:1]))

    def _named(self, instruction: Instruction, attribute: str) -> Computation:
        value = instruction.attributes.get(attribute, ())
        found = self.module.computations.get(reference(value[0])) if len(value) == 1 else None
        if found is None:
            raise ProgramUnreadable(f"{shown(instruction.name)} names no computation as its {attribute}")
        return found


def _union(values: "list[Value] | tuple[Value, ...]") -> Origin:
    result = _NOTHING
    for value in values:
        result |= value if isinstance(value, Origin) else _union(value)
    return result


def _joined(one: Value, other: Value) -> Value:
    """The union of two values, element by element if both are tuples."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(_joined(*pair) for pair in zip(one, other, strict=True))
    return _union([one, other])


def _also(value: Value, decided: Origin) -> Value:
    """Add the influence of `decided`, which chose the value, but not its content."""
    if isinstance(value, tuple):
        return tuple(_also(each, decided) for each in value)
    return replace(value, depends=value.depends | decided.depends)


def _with_received(value: Value, added: Received) -> Value:
    if isinstance(value, tuple):
        return tuple(_with_received(each, added) for each in value)
    return replace(value, received=value.received | added)


def _either(some: Iterable[Received]) -> Received:
    found = NONE
    for each in some:
        found |= each
    return found


def _sizes(instruction: Instruction, operands: int) -> list[int]:
    """The number of elements of each result of a collective."""
    results = [each.elements for each in leaves(instruction.shape)]
    # The shape of some -start instructions is (operands, results).
    return (
        (results[-operands:] if len(results) >= operands else [max(results, default=1)] * operands) if operands else []
    )


def _shaped(shape: ShapeTree, value: Value) -> Value:
    """Expand an origin to this shape: each element of a tuple gets it."""
    if isinstance(shape, Shape):
        return _union([value])
    if isinstance(value, tuple) and len(value) == len(shape):
        return tuple(_shaped(*pair) for pair in zip(shape, value, strict=True))
    whole = _union([value])
    return tuple(_shaped(each, whole) for each in shape)


def _element(value: Value, instruction: Instruction) -> Value:
    index = integers(instruction.attributes.get("index", ()))
    if isinstance(value, tuple) and len(index) == 1 and 0 <= index[0] < len(value):
        return value[index[0]]
    return _shaped(instruction.shape, value)


def _changes_size(computation: Computation, instruction: Instruction) -> bool:
    """Whether the number of elements changes. A sum over a dimension of size 1, say, only drops that dimension."""
    first, shape = computation.operand(instruction, 0).shape, instruction.shape
    result = shape if isinstance(shape, Shape) else next((each for each in shape if isinstance(each, Shape)), None)
    return isinstance(first, Shape) and result is not None and result.elements != first.elements
