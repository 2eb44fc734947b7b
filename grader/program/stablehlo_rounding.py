"""Find the arguments of an exported program whose elements reach its outputs only in a narrower dtype.

A state that a step rounds to bfloat16, and widens again, has lost its digits, whatever its dtype. XLA may leave out
such a pair of conversions on one kind of device and keep it on another, so this is read from the program as written.
"""

from dataclasses import dataclass

from grader.program.stablehlo_statements import Span, Statement, Statements
from grader.program.tokens import ProgramUnreadable, Tokens

# After these, an element of the result is computed from many of an operand: a gradient contains no rounded weight.
_ENDS = frozenset(
    f"stablehlo.{name}" for name in "compare convolution dot dot_general is_finite reduce reduce_window".split()
)
_ROUNDS = frozenset({"stablehlo.bitcast_convert", "stablehlo.reduce_precision"})
# With one result per operand, in the same order.
_ONE_BY_ONE = frozenset(
    f"stablehlo.{name}"
    for name in "all_gather all_reduce all_to_all collective_permute optimization_barrier reduce_scatter".split()
)
_DEEPEST = 200
_MOST_STATEMENTS = 1_000_000
_MOST_ROUNDS = 64


@dataclass(frozen=True, slots=True)
class _Carried:
    """The arguments whose elements a value contains, as sets: bit n is argument n. An argument can be in both."""

    exact: int = 0
    rounded: int = 0

    def __or__(self, other: "_Carried") -> "_Carried":
        return _Carried(self.exact | other.exact, self.rounded | other.rounded)


_NOTHING = _Carried()
Values = tuple[_Carried, ...]


def rounded_arguments(tokens: Tokens) -> tuple[tuple[int, int], ...]:
    """Pairs (output, argument): elements of the argument are in the output, and all of them were rounded on the way.

    Elements are followed through operations that move, cast or change them one by one, and through loops and branches.
    Raises:
      ProgramUnreadable: functions call one another too deeply, or unfold to too many statements.
    """
    return _Reader(tokens).pairs()


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._read = Statements(tokens)
        self._results: dict[tuple[str, Values], Values] = {}
        self._statements = 0

    def pairs(self) -> tuple[tuple[int, int], ...]:
        main = self._read.functions.get("@main")
        if main is None:
            return ()
        outputs = self._call("@main", tuple(_Carried(1 << number) for number in range(len(main.arguments))), 0)
        return tuple(
            (output, argument)
            for output, carried in enumerate(outputs)
            for argument in range(len(main.arguments))
            if carried.rounded >> argument & 1 and not carried.exact >> argument & 1
        )

    def _call(self, name: str, arguments: Values, depth: int) -> Values:
        if depth > _DEEPEST:
            raise ProgramUnreadable(f"its functions call one another more than {_DEEPEST} deep")
        key = name, arguments
        if key not in self._results:
            function = self._read.functions[name]
            values = dict(zip(function.arguments, arguments, strict=False))
            self._results[key] = self._block(function.body, values, depth + 1)
        return self._results[key]

    def _block(self, span: Span, values: dict[str, _Carried], depth: int) -> Values:
        """What each value that the block returns carries."""
        returned: Values = ()
        for statement in self._read.of(span):
            self._statements += 1
            if self._statements > _MOST_STATEMENTS:
                raise ProgramUnreadable(f"its calls unfold to more than {_MOST_STATEMENTS} statements")
            given = tuple(values.get(name, values.get(name.partition("#")[0], _NOTHING)) for name in statement.operands)
            if statement.returns:
                returned = given
                continue
            results = self._evaluate(statement, given, values, depth)
            values[statement.name] = _either(results)
            for number, carried in enumerate(results):
                values[f"{statement.name}#{number}"] = carried
        return returned

    def _evaluate(self, statement: Statement, given: Values, values: dict[str, _Carried], depth: int) -> Values:
        operation, called = statement.operation, self._read.called(statement)
        if called is not None:
            return self._call(called, given, depth)
        if operation == "sdy.manual_computation" and statement.regions:
            body = statement.regions[-1]
            names = self._read.block_arguments(body)
            return self._block(body, values | dict(zip(names, given, strict=False)), depth)
        if operation == "stablehlo.while" and statement.regions:
            return self._loop(statement, given, values, depth)
        if operation in {"stablehlo.case", "stablehlo.if"}:
            branches = [self._block(region, dict(values), depth) for region in statement.regions]
            return tuple(_either(each) for each in zip(*branches, strict=False))
        if operation in _ONE_BY_ONE and len(given) == statement.results:
            return given
        whole = _either(given)
        if operation in _ENDS:
            whole = _NOTHING
        elif operation in _ROUNDS or (operation == "stablehlo.convert" and self._narrows(statement)):
            whole = _Carried(0, whole.exact | whole.rounded)
        return (whole,) * max(1, statement.results)

    def _loop(self, loop: Statement, given: Values, values: dict[str, _Carried], depth: int) -> Values:
        """What a loop returns after one round or more."""
        names, body = self._read.carried(loop), loop.regions[-1]
        state = self._block(body, values | dict(zip(names, given, strict=False)), depth)
        for _ in range(_MOST_ROUNDS):
            after = self._block(body, values | dict(zip(names, state, strict=False)), depth)
            joined = tuple(one | other for one, other in zip(state, after, strict=False))
            if joined == state:
                return state
            state = joined
        raise ProgramUnreadable(f"the values of a loop still change after {_MOST_ROUNDS} rounds")

    def _narrows(self, convert: Statement) -> bool:
        """Whether `convert %0 : (tensor<4xf32>) -> tensor<4xbf16>` loses digits. So does a cast to integers."""
        tokens, found = self._tokens, list[str]()
        at = convert.at
        while len(found) < 2 and at < tokens.end:
            if tokens[at] == "tensor" and tokens[at + 1] == "<":
                inside = "".join(tokens.items[at + 2 : tokens.partners[at + 1]]).partition(",")[0]
                found.append(inside.rpartition("x")[2])
            at += 1
        if len(found) < 2:
            raise tokens.error(convert.at, "a conversion with two types")
        before, after = (_digits(name) for name in found)
        return after < before


def _either(some: Values) -> _Carried:
    found = _NOTHING
    for each in some:
        found |= each
    return found


def _digits(name: str) -> int:
    """The bits of a floating-point dtype's mantissa, https://openxla.org/stablehlo/spec#types; 0 for other dtypes."""
    known = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
    return known.get(name, 4 if name[:2] in ("f8", "f4", "f6") else 0)
