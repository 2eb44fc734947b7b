"""Find the collectives that take turns with a matrix product of the same round, in a loop of an exported program.

An optimization_barrier makes one value wait for another. The CPU compiler drops it, so only this text shows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.program.shard_map_regions import behind
from grader.program.tokens import ProgramUnreadable, Tokens, integer

_PRODUCT, _COLLECTIVE = 1, 2
_RETURNS = {"return", "func.return", "stablehlo.return", "sdy.return"}
# If its sharding has no axis, such an operation makes its operand whole on every device: it is a gather.
_CONSTRAINTS = {"sdy.sharding_constraint", "sdy.reshard"}
_DEEPEST = 200
_MOST_STATEMENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Statement:
    """`operands` are the values that it names outside its regions. Each region is a range of tokens."""

    name: str
    results: int
    operation: str
    at: int
    operands: tuple[str, ...]
    regions: tuple[tuple[int, int], ...]


def turns_as_written(tokens: Tokens, collectives: Mapping[str, str], products: frozenset[str]) -> tuple[str, ...]:
    """The kinds of collectives that need a product of their round, or that a product of their round needs.

    Args:
      collectives: operation -> kind.
    Raises:
      ProgramUnreadable: functions call one another too deeply, or unfold to too many statements.
    """
    return _Reader(tokens, collectives, products).turns()


class _Reader:
    """Runs the program on sets of bits, which say what a value depends on in the same round."""

    def __init__(self, tokens: Tokens, collectives: Mapping[str, str], products: frozenset[str]) -> None:
        self._tokens, self._collectives, self._products = tokens, collectives, products
        self._functions = dict(self._find_functions())
        self._results: dict[tuple[str, tuple[int, ...], bool], tuple[list[int], int]] = {}
        self._turns: set[str] = set()
        self._statements = 0

    def turns(self) -> tuple[str, ...]:
        if "@main" in self._functions:
            self._call("@main", (), False, 0)
        return tuple(sorted(self._turns))

    def _find_functions(self) -> list[tuple[str, tuple[list[str], tuple[int, int]]]]:
        found = []
        tokens = self._tokens
        for at in range(tokens.end):
            if tokens[at] != "func.func":
                continue
            name = next((index for index in range(at + 1, at + 4) if tokens[index][:1] == "@"), None)
            if name is None or tokens[name + 1] != "(":
                continue
            arguments = [
                tokens[index] for index in range(name + 2, tokens.partners[name + 1]) if tokens[index][:1] == "%"
            ]
            body = tokens.partners[name + 1] + 1
            while body < tokens.end and not self._is_region(body):
                body = behind(tokens, body)
            if body < tokens.end:
                found.append((tokens[name], (arguments, (body + 1, tokens.partners[body]))))
        return found

    def _is_region(self, at: int) -> bool:
        tokens = self._tokens
        return tokens[at] == "{" and any(tokens[index] in _RETURNS for index in range(at + 1, tokens.partners[at]))

    def _call(self, name: str, arguments: tuple[int, ...], in_round: bool, depth: int) -> tuple[list[int], int]:
        if depth > _DEEPEST:
            raise ProgramUnreadable(f"its functions call one another more than {_DEEPEST} deep")
        key = name, arguments, in_round
        if key not in self._results:
            names, span = self._functions[name]
            self._results[key] = self._block(span, dict(zip(names, arguments, strict=False)), in_round, depth + 1)
        return self._results[key]

    def _block(
        self, span: tuple[int, int], values: dict[str, int], in_round: bool, depth: int
    ) -> tuple[list[int], int]:
        """The bits of each value that the block returns, and those of everything in it."""
        returned: list[int] = []
        contents = 0
        at = span[0]
        while at < span[1]:
            statement, at = self._statement(at, span[1])
            self._statements += 1
            if self._statements > _MOST_STATEMENTS:
                raise ProgramUnreadable(f"its calls unfold to more than {_MOST_STATEMENTS} statements")
            given = [values.get(name, values.get(name.partition("#")[0], 0)) for name in statement.operands]
            if statement.operation in _RETURNS:
                returned = given
                continue
            results, inside = self._evaluate(statement, given, values, in_round, depth)
            contents |= inside
            whole = 0
            for bits in results:
                whole |= bits
            values[statement.name] = whole
            for number, bits in enumerate(results):
                values[f"{statement.name}#{number}"] = bits
        return returned, contents

    def _evaluate(
        self, statement: _Statement, given: list[int], values: dict[str, int], in_round: bool, depth: int
    ) -> tuple[list[int], int]:
        """The bits of each result, and those of everything in the statement."""
        before = 0
        for bits in given:
            before |= bits
        tokens, operation = self._tokens, statement.operation
        called = tokens[statement.at + 1]
        if operation in {"func.call", "call"} and called in self._functions:
            return self._call(called, tuple(given), in_round, depth)
        if operation in {"sdy.manual_computation", "stablehlo.while"} and statement.regions:
            # In the body, the arguments have other names.
            body = statement.regions[-1]
            if operation == "stablehlo.while":
                # At the start of a round, nothing in it has happened yet.
                _, inside = self._block(body, {}, True, depth)
                return self._one(statement, before, inside, "", in_round)
            names = self._block_arguments(body[0] - 1)
            return self._block(body, values | dict(zip(names, given, strict=False)), in_round, depth)
        inside = 0
        for region in statement.regions:
            results, done = self._block(region, dict(values), in_round, depth)
            inside |= done
            for bits in results:
                before |= bits
        kind = self._collectives.get(operation, "")
        if operation in _CONSTRAINTS and self._makes_whole(statement.at):
            kind = "all-gather"
        if kind:
            inside |= _COLLECTIVE
        if operation in self._products:
            inside |= _PRODUCT
        return self._one(statement, before, inside, kind, in_round)

    def _one(self, statement: _Statement, before: int, inside: int, kind: str, in_round: bool) -> tuple[list[int], int]:
        """Evaluate a statement as a single step, such as an inner loop."""
        if in_round and ((inside & _COLLECTIVE and before & _PRODUCT) or (inside & _PRODUCT and before & _COLLECTIVE)):
            self._turns.add(kind or "all-gather")
        return [before | inside] * statement.results, inside

    def _makes_whole(self, at: int) -> bool:
        """Whether the sharding of `sdy.sharding_constraint %0 <@mesh, [{}, {}]>` names no axis."""
        tokens = self._tokens
        opening = next((index for index in range(at, min(at + 6, tokens.end)) if tokens[index] == "<"), None)
        if opening is None:
            return False
        return not any(tokens[index][:1] == '"' for index in range(opening, tokens.partners[opening]))

    def _block_arguments(self, opening: int) -> list[str]:
        """The names in the brackets before a body: `(%arg2: type, %arg3: type) {`."""
        tokens = self._tokens
        if tokens[opening - 1] != ")":
            return []
        start = next((at for at in range(opening - 2, -1, -1) if tokens.partners[at] == opening - 1), opening)
        return [tokens[at] for at in range(start + 1, opening - 1) if tokens[at][:1] == "%"]

    def _statement(self, at: int, end: int) -> tuple[_Statement, int]:
        tokens = self._tokens
        name, results = "", 0
        if self._begins(at) and tokens[at][:1] == "%":
            several = tokens[at + 1] == ":"
            name, results = tokens[at], (integer(tokens[at + 2]) or 1) if several else 1
            at += 4 if several else 2
        start, operands, regions = at, list[str](), list[tuple[int, int]]()
        at += 1
        while at < end and not self._begins(at):
            self._collect(at, operands, regions)
            at = behind(tokens, at)
        return _Statement(name, results, tokens[start].strip('"'), start, tuple(operands), tuple(regions)), at

    def _begins(self, at: int) -> bool:
        """Whether a statement begins here: `%1 =`, `%1:2 =`, or a return."""
        tokens = self._tokens
        if tokens[at][:1] == "%":
            return tokens[at + 1] == "=" or (tokens[at + 1] == ":" and tokens[at + 3] == "=")
        return tokens[at] in _RETURNS

    def _collect(self, at: int, operands: list[str], regions: list[tuple[int, int]]) -> None:
        """Add the values and regions in one token, or in the brackets that it opens."""
        tokens = self._tokens
        if tokens[at][:1] == "%":
            operands.append(tokens[at])
        elif tokens[at] == "{" and self._is_region(at):
            regions.append((at + 1, tokens.partners[at]))
        elif tokens[at] == "(":
            inner = at + 1
            while inner < tokens.partners[at]:
                # `%iterArg = %4` in a loop names the body's argument.
                if not (tokens[inner][:1] == "%" and tokens[inner + 1] == "=") and tokens[inner + 1] != ":":
                    self._collect(inner, operands, regions)
                inner = behind(tokens, inner)
