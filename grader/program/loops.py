"""Find the trip count of a `while`: XLA's own count, checked against the loop's arithmetic."""

from dataclasses import dataclass

from grader.program.hlo import Computation, Instruction, Module, Value, reference
from grader.program.shapes import Shape
from grader.program.tokens import ProgramUnreadable, cut_hlo, integer, unquoted

# This many steps suffice for the forms of `i + 1 < n` that XLA's passes leave, and keep a search short.
_STEPS = 200
_MOST_TRIPS = 2**63 - 1
_PASSING = {"copy", "bitcast", "reshape", "optimization-barrier"}
_CALLING = {"fusion": "calls", "call": "to_apply"}
_MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE", "EQ": "EQ"}


@dataclass(frozen=True, slots=True)
class _Frame:
    """A computation, and where its arguments come from; None for the tuple that the loop carries."""

    computation: Computation
    arguments: "tuple[tuple[_Frame, str], ...] | None" = None


@dataclass(frozen=True, slots=True)
class _Linear:
    """An integer: element `index` of the carried tuple plus `offset`; only `offset` if `index` is None."""

    index: int | None
    offset: int


def trip_count(module: Module, caller: Computation, loop: Instruction) -> int | None:
    """Count how often a loop's body runs each time that the loop is reached.

    Args:
      caller: the computation that contains the loop.
    Returns:
      The count; None if it depends on data, or if XLA's count and the loop's arithmetic differ.
    """
    known = _known_trip_count(loop.attributes.get("backend_config", ()))
    derived = _Tracer(module).trip_count(caller, loop)
    if known is None or derived is None or known == derived:
        count = derived if known is None else known
        return count if count is None or count <= _MOST_TRIPS else None
    return None


def called(module: Module, instruction: Instruction, attribute: str) -> Computation:
    """The computation that an attribute names. Raises ProgramUnreadable if there is none."""
    value = instruction.attributes.get(attribute, ())
    found = module.computations.get(reference(value[0])) if len(value) == 1 else None
    if found is None:
        raise ProgramUnreadable(f"{instruction.name!r:.80} names no computation as its {attribute}")
    return found


def _known_trip_count(config: Value) -> int | None:
    """Read `"known_trip_count":{"n":"11"}` from JSON, which is either plain or inside a string."""
    if len(config) == 1 and config[0][:1] == '"':
        tokens = cut_hlo(unquoted(config[0]))
        config = tuple(tokens.items[: tokens.end])
    depth = 0
    for at, token in enumerate(config):
        depth += (token in {"{", "["}) - (token in {"}", "]"})
        if depth == 1 and token == '"known_trip_count"':
            value = config[at + 1 : at + 7]
            if len(value) >= 6 and value[:4] == (":", "{", '"n"', ":") and value[5] == "}":
                count = integer(value[4].strip('"'))
                return count if count is not None and count >= 0 else None
    return None


class _Tracer:
    """Follows integers through one loop, for at most `_STEPS` steps."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.left = _STEPS

    def trip_count(self, caller: Computation, loop: Instruction) -> int | None:
        condition = _Frame(called(self.module, loop, "condition"))
        body = _Frame(called(self.module, loop, "body"))
        found = self._comparison(condition)
        if found is None or len(loop.operands) != 1:
            return None
        frame, compare = found
        if len(compare.operands) != 2:
            return None
        left, right = (self._integer(frame, name) for name in compare.operands)
        direction = "".join(compare.attributes.get("direction", ()))
        if left is None or right is None or direction not in _MIRRORED:
            return None
        start, step = self._start(caller, loop, left), self._step(body, left)
        limit, drift = self._start(caller, loop, right), self._step(body, right)
        if start is None or limit is None or step is None or drift is None:
            return None
        if step == 0:
            start, step, limit, drift, direction = limit, drift, start, step, _MIRRORED[direction]
        if drift:
            return None
        count = _trips(direction, start, step, limit)
        shape = frame.computation.operand(compare, 0).shape
        if count is None or not isinstance(shape, Shape):
            return None
        return count if _holds(shape.dtype, start + count * step) and _holds(shape.dtype, start) else None

    def _comparison(self, frame: _Frame) -> tuple[_Frame, Instruction] | None:
        root = frame.computation.instructions[frame.computation.root]
        while root.opcode != "compare":
            self.left -= 1
            if self.left < 0:
                return None
            if root.opcode in _CALLING:
                frame = self._inside(frame, root)
                root = frame.computation.instructions[frame.computation.root]
            elif root.opcode in _PASSING:
                root = frame.computation.operand(root, 0)
            else:
                return None
        return frame, root

    def _start(self, caller: Computation, loop: Instruction, value: _Linear) -> int | None:
        """The integer before the first trip."""
        if value.index is None:
            return value.offset
        first = self._element(_Frame(caller), loop.operands[0], value.index)
        return None if first is None or first.index is not None else first.offset + value.offset

    def _step(self, body: _Frame, value: _Linear) -> int | None:
        """How much the integer grows in each trip."""
        if value.index is None:
            return 0
        after = self._element(body, body.computation.root, value.index)
        return None if after is None or after.index != value.index else after.offset

    def _integer(self, frame: _Frame, name: str) -> _Linear | None:
        self.left -= 1
        found = frame.computation.instructions.get(name)
        if found is None or self.left < 0:
            return None
        if found.opcode == "constant":
            number = integer(found.literal[0]) if len(found.literal) == 1 else None
            return None if number is None else _Linear(None, number)
        if found.opcode == "parameter":
            argument = _argument(frame, found)
            return None if argument is None else self._integer(*argument)
        if found.opcode == "get-tuple-element":
            index = integer("".join(found.attributes.get("index", ())))
            return None if index is None or not found.operands else self._element(frame, found.operands[0], index)
        if found.opcode in _PASSING and found.operands:
            return self._integer(frame, found.operands[0])
        if found.opcode in _CALLING:
            inner = self._inside(frame, found)
            return self._integer(inner, inner.computation.root)
        if found.opcode in {"add", "subtract"} and len(found.operands) == 2:
            return self._sum(frame, found)
        return None

    def _sum(self, frame: _Frame, found: Instruction) -> _Linear | None:
        left, right = self._integer(frame, found.operands[0]), self._integer(frame, found.operands[1])
        if left is None or right is None:
            return None
        if found.opcode == "subtract":
            return _Linear(left.index, left.offset - right.offset) if right.index is None else None
        if left.index is not None and right.index is not None:
            return None
        return _Linear(right.index if left.index is None else left.index, left.offset + right.offset)

    def _element(self, frame: _Frame, name: str, index: int) -> _Linear | None:
        """Element `index` of the tuple `name`."""
        self.left -= 1
        found = frame.computation.instructions.get(name)
        if found is None or self.left < 0:
            return None
        if found.opcode == "tuple":
            return self._integer(frame, found.operands[index]) if 0 <= index < len(found.operands) else None
        if found.opcode == "parameter":
            if frame.arguments is None:
                return _Linear(index, 0)
            argument = _argument(frame, found)
            return None if argument is None else self._element(*argument, index)
        if found.opcode in _PASSING and found.operands:
            return self._element(frame, found.operands[0], index)
        if found.opcode in _CALLING:
            inner = self._inside(frame, found)
            return self._element(inner, inner.computation.root, index)
        return None

    def _inside(self, frame: _Frame, call: Instruction) -> _Frame:
        computation = called(self.module, call, _CALLING[call.opcode])
        return _Frame(computation, tuple((frame, name) for name in call.operands))


def _argument(frame: _Frame, parameter: Instruction) -> tuple[_Frame, str] | None:
    number = integer(parameter.literal[0]) if len(parameter.literal) == 1 else None
    if frame.arguments is None or number is None or not 0 <= number < len(frame.arguments):
        return None
    return frame.arguments[number]


def _trips(direction: str, start: int, step: int, limit: int) -> int | None:
    """How often `i` in start, start + step, … passes the comparison with `limit`."""
    if direction in {"GT", "GE"}:
        start, step, limit = -start, -step, -limit
    if direction in {"GE", "LE"}:
        limit += 1
    if direction == "NE":
        count, rest = divmod(limit - start, step) if step else (0, 1)
        return count if rest == 0 and count >= 0 else None
    if direction == "EQ":
        return int(start == limit) if step else None
    if start >= limit:
        return 0
    # A loop that moves away from its limit ends by overflow at best.
    return -((start - limit) // step) if step > 0 else None


def _holds(dtype: str, number: int) -> bool:
    """Whether an integer dtype can hold a number. Beyond its range, the loop would not behave as computed here."""
    if dtype[:1] not in {"s", "u"} or not dtype[1:].isdecimal():
        return False
    bits = int(dtype[1:])
    return -(1 << bits - 1) <= number < 1 << bits - 1 if dtype[0] == "s" else 0 <= number < 1 << bits
