"""Find the arguments of an exported program whose elements reach its outputs only in a narrower dtype.

A state that a step rounds to bfloat16, and widens again, has lost its digits, whatever its dtype. XLA may leave out
such a pair of conversions on one kind of device and keep it on another, so this is read from the program as written.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.program.stablehlo_statements import Span, Statement, Statements
from grader.program.tokens import ProgramUnreadable, integer


def _operations(names: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in names.split())


# Operations that compute each element from many of an operand, so that the result contains none: a gradient contains
# no rounded weight.
_ENDS = _operations("compare convolution dot dot_general is_finite reduce_window")
_ROUNDS = _operations("bitcast_convert reduce_precision round_nearest_even round_nearest_afz floor ceil")
# Operations whose result consists of the elements of their first operands: how many operands, or None for all.
_PARTS = {"stablehlo.concatenate": None, "stablehlo.pad": 2, "stablehlo.dynamic_update_slice": 2}
# Operations with one result per operand, in the same order.
_ONE_BY_ONE = _operations("all_gather all_reduce all_to_all collective_permute optimization_barrier reduce_scatter")
# Operations whose result contains each operand with a constant factor, if the other operand is constant.
_PRODUCTS = _operations("multiply divide")
_MOVES = _operations("add subtract negate convert reshape transpose reverse select") | _ROUNDS
# Operations after which a sum over what was stacked may leave arrays out.
_CUTS = _operations("slice dynamic_slice")
_ZERO = re.compile(r"0+(\.0*)?([eE][+-]?[0-9]{1,3})?")
# A stack of more arrays is followed no further, so that a loop which stacks in each round comes to an end.
_MOST_STACKED = 1024
_DEEPEST = 200
_MOST_STATEMENTS = 1_000_000
_MOST_ROUNDS = 64


@dataclass(frozen=True, slots=True)
class _Carried:
    """The arguments whose elements a value contains, as sets: bit n is argument n.

    Attributes:
      whole: each element contains one of the argument, at its full precision.
      exact: some elements contain one of the argument, at its full precision.
      lost: some elements contain only rounded ones of the argument.
      linear: what is contained is added up with constant factors, so that a sum over a new dimension contains it, too.
      grown: by how many times a concatenation made the value larger.
      constant: whether the value is the same in every run.
      zero: whether the value is the constant 0.
    """

    whole: int = 0
    exact: int = 0
    lost: int = 0
    linear: int = 0
    grown: int = 1
    constant: bool = False
    zero: bool = False


_NOTHING = _Carried()
Values = tuple[_Carried, ...]


def rounded_arguments(statements: Statements) -> tuple[tuple[int, int], ...]:
    """Pairs (output, argument): elements of the output contain elements of the argument only after they were rounded.

    Elements are followed through operations that move, cast or change them one by one, through loops and branches, and
    through sums over a dimension that the argument does not have, such as one of stacked arrays.
    Raises:
      ProgramUnreadable: functions call one another too deeply, or unfold to too many statements.
    """
    return _Reader(statements).pairs()


class _Reader:
    def __init__(self, statements: Statements) -> None:
        self._tokens = statements.tokens
        self._read = statements
        self._results: dict[tuple[str, Values], Values] = {}
        self._types_at: dict[int, list[str]] = {}
        self._statements = 0

    def pairs(self) -> tuple[tuple[int, int], ...]:
        main = self._read.functions.get("@main")
        if main is None:
            return ()
        outputs = self._call("@main", tuple(_argument(number) for number in range(len(main.arguments))), 0)
        return tuple(
            (output, argument)
            for output, carried in enumerate(outputs)
            for argument in range(len(main.arguments))
            if carried.lost >> argument & 1
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
        """Return what each value that the block returns carries."""
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
            values[statement.name] = results[0] if len(results) == 1 else _together(results)
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
            return tuple(_parts(each) for each in zip(*branches, strict=False))
        if operation in _ONE_BY_ONE and len(given) == statement.results:
            return tuple(replace(each, grown=1) for each in given)
        return (self._one(statement, given, values, depth),) * max(1, statement.results)

    def _one(self, statement: Statement, given: Values, values: dict[str, _Carried], depth: int) -> _Carried:
        """What each result of an operation on elements or on parts of arrays carries."""
        operation = statement.operation
        if operation in {"stablehlo.constant", "stablehlo.iota"}:
            return _Carried(constant=True, zero=operation == "stablehlo.constant" and self._is_zero(statement))
        if operation in _ENDS:
            return self._mixed(statement, given)
        if operation == "stablehlo.reduce":
            return self._reduced(statement, given)
        if operation == "stablehlo.select":
            return _parts(given[1:])
        if operation in _PARTS:
            parts = _parts(given[: _PARTS[operation]])
            return self._stacked(statement, parts) if operation == "stablehlo.concatenate" else replace(parts, grown=1)
        if operation == "stablehlo.scatter" and len(given) == 3 and statement.regions:
            body = statement.regions[-1]
            names = self._read.block_labels(body)
            put = self._block(body, values | dict(zip(names, (given[0], given[2]), strict=False)), depth)
            return _parts((given[0], *put))
        if operation in _PRODUCTS:
            return _product(given)
        found = _together(given)
        if operation in _ROUNDS or (operation == "stablehlo.convert" and self._narrows(statement)):
            found = replace(found, whole=0, exact=0, lost=found.whole | found.exact | found.lost)
        if operation in _CUTS:
            return replace(found, grown=1)
        if operation in _MOVES or (operation == "stablehlo.broadcast_in_dim" and self._keeps_its_size(statement)):
            return found
        return replace(found, linear=0, grown=1)

    def _mixed(self, statement: Statement, given: Values) -> _Carried:
        """What an operation on many elements carries on. A product with a constant matrix may only move them."""
        together, sizes = _together(given), self._sizes(statement)
        others = [size for each, size in zip(given, sizes, strict=False) if not each.constant]
        is_product = statement.operation in {"stablehlo.dot", "stablehlo.dot_general"}
        if is_product and len(sizes) == 3 and others == sizes[2:]:
            return together
        return _Carried(constant=together.constant)

    def _reduced(self, reduce: Statement, given: Values) -> _Carried:
        """Return what a sum contains: all of its operand if its dimensions have size 1, and linear parts of a stack."""
        sizes = self._sizes(reduce)
        if not sizes or len(given) != 2:
            return _NOTHING
        operand, times = given[0], sizes[0] // max(1, sizes[-1])
        if times == 1:
            return operand
        # `reduce(%0 init: %1) applies stablehlo.add across dimensions = [0]`
        tokens, opening = self._tokens, reduce.at + 1
        behind = tokens.partners[opening] + 1 if tokens[opening] == "(" else opening
        is_sum = (tokens[behind], tokens[behind + 1]) == ("applies", "stablehlo.add")
        if not is_sum or times != operand.grown:
            return _NOTHING
        exact = (operand.whole | operand.exact) & operand.linear
        return _Carried(whole=exact, exact=exact, lost=operand.lost & operand.linear & ~exact, linear=operand.linear)

    def _stacked(self, concatenate: Statement, parts: _Carried) -> _Carried:
        sizes = self._sizes(concatenate)
        equal = sizes and len(set(sizes[:-1])) == 1
        grown = parts.grown * (len(sizes) - 1)
        return replace(parts, grown=grown) if equal and grown <= _MOST_STACKED else replace(parts, linear=0, grown=1)

    def _loop(self, loop: Statement, given: Values, values: dict[str, _Carried], depth: int) -> Values:
        """Return what a loop returns after one round or more."""
        names, body = self._read.carried(loop), loop.regions[-1]
        state = self._block(body, values | dict(zip(names, given, strict=False)), depth)
        for _ in range(_MOST_ROUNDS):
            after = self._block(body, values | dict(zip(names, state, strict=False)), depth)
            joined = tuple(_parts(pair) for pair in zip(state, after, strict=False))
            if joined == state:
                return state
            state = joined
        raise ProgramUnreadable(f"the values of a loop still change after {_MOST_ROUNDS} rounds")

    def _narrows(self, convert: Statement) -> bool:
        """Whether `convert %0 : (tensor<4xf32>) -> tensor<4xbf16>` loses digits. So does a cast to integers."""
        found = self._types(convert)
        if not found:
            raise self._tokens.error(convert.at, "a conversion with its types")
        # A single type is that of the operand and the result.
        before, after = (_digits(name.rpartition("x")[2]) for name in (found[0], found[-1]))
        return after < before

    def _keeps_its_size(self, statement: Statement) -> bool:
        return len(set(self._sizes(statement))) == 1

    def _is_zero(self, constant: Statement) -> bool:
        tokens, at = self._tokens, constant.at + 1
        # One number for all elements is one token.
        if tokens[at] != "dense" or tokens[at + 1] != "<" or tokens.partners[at + 1] != at + 3:
            return False
        return _ZERO.fullmatch(tokens[at + 2]) is not None

    def _sizes(self, statement: Statement) -> list[int]:
        """How many elements the operands and the result have, in `(tensor<4xf32>, tensor<f32>) -> tensor<f32>`.

        Empty if a size is not a number.
        """
        sizes = []
        for name in self._types(statement):
            *dimensions, _ = name.split("x")
            numbers = [integer(each) for each in dimensions]
            if None in numbers:
                return []
            sizes.append(math.prod(each or 0 for each in numbers))
        return sizes

    def _types(self, statement: Statement) -> list[str]:
        """The types that end a statement, such as `4xf32`, without their shardings."""
        # Read each statement once, however often the function or loop that contains it is followed.
        if statement.at not in self._types_at:
            tokens, found = self._tokens, list[str]()
            for at in range(statement.at, min(statement.end, tokens.end)):
                if tokens[at] == "tensor" and tokens[at + 1] == "<":
                    inside = "".join(tokens.items[at + 2 : tokens.partners[at + 1]])
                    found.append(inside.partition(",")[0])
            self._types_at[statement.at] = found
        return self._types_at[statement.at]


def _argument(number: int) -> _Carried:
    bit = 1 << number
    return _Carried(whole=bit, exact=bit, linear=bit)


def _together(some: Iterable[_Carried]) -> _Carried:
    """What elements carry if each is computed from one element of every value. What one has exactly is not lost."""
    values = list(some)
    whole = _any(each.whole for each in values)
    return _Carried(
        whole,
        _any(each.exact for each in values),
        _any(each.lost for each in values) & ~whole,
        _any(each.linear for each in values),
        max((each.grown for each in values), default=1),
        constant=bool(values) and all(each.constant for each in values),
        zero=bool(values) and all(each.zero for each in values),
    )


def _parts(some: Iterable[_Carried]) -> _Carried:
    """What an array carries if each of its elements is an element of one of the values."""
    values = list(some)
    joined = _together(values)
    whole = values[0].whole if values else 0
    for each in values[1:]:
        whole &= each.whole
    return replace(joined, whole=whole, lost=_any(each.lost for each in values))


def _product(given: Values) -> _Carried:
    """What a product or quotient carries. A factor 0 leaves nothing, and only constant factors keep it linear."""
    if any(each.zero for each in given):
        return _Carried(constant=True, zero=True)
    found = _together(given)
    linear = _any(each.linear for each in given) if sum(not each.constant for each in given) == 1 else 0
    return replace(found, linear=linear, grown=found.grown if linear else 1)


def _any(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


def _digits(name: str) -> int:
    """The bits of a floating-point dtype's mantissa, https://openxla.org/stablehlo/spec#types; 0 for other dtypes."""
    known = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
    return known.get(name, 4 if name[:2] in ("f8", "f4", "f6") else 0)
