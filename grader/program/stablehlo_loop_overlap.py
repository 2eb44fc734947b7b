"""Find the collectives that take turns with a matrix product of the same round, in a loop of an exported program.

An optimization_barrier makes one value wait for another. The CPU compiler drops it, so only this text shows it.
"""

from collections.abc import Mapping

from grader.program.stablehlo_statements import Span, Statement, Statements
from grader.program.tokens import ProgramUnreadable

_PRODUCT, _COLLECTIVE = 1, 2
# If its sharding has no axis, such an operation makes its operand whole on every device: it is a gather.
_CONSTRAINTS = {"sdy.sharding_constraint", "sdy.reshard"}
_DEEPEST = 200
_MOST_STATEMENTS = 1_000_000


def turns_as_written(
    statements: Statements, collectives: Mapping[str, str], products: frozenset[str]
) -> tuple[str, ...]:
    """The kinds of collectives that need a product of their round, or that a product of their round needs.

    Args:
      collectives: operation -> kind.
    Raises:
      ProgramUnreadable: functions call one another too deeply, or unfold to too many statements.
    """
    return _Reader(statements, collectives, products).turns()


class _Reader:
    """Runs the program on sets of bits, which say what a value depends on in the same round."""

    def __init__(self, statements: Statements, collectives: Mapping[str, str], products: frozenset[str]) -> None:
        self._tokens, self._collectives, self._products = statements.tokens, collectives, products
        self._read = statements
        self._results: dict[tuple[str, tuple[int, ...], bool], tuple[list[int], int]] = {}
        self._turns: set[str] = set()
        self._statements = 0

    def turns(self) -> tuple[str, ...]:
        if "@main" in self._read.functions:
            self._call("@main", (), False, 0)
        return tuple(sorted(self._turns))

    def _call(self, name: str, arguments: tuple[int, ...], in_round: bool, depth: int) -> tuple[list[int], int]:
        if depth > _DEEPEST:
            raise ProgramUnreadable(f"its functions call one another more than {_DEEPEST} deep")
        key = name, arguments, in_round
        if key not in self._results:
            function = self._read.functions[name]
            values = dict(zip(function.arguments, arguments, strict=False))
            self._results[key] = self._block(function.body, values, in_round, depth + 1)
        return self._results[key]

    def _block(self, span: Span, values: dict[str, int], in_round: bool, depth: int) -> tuple[list[int], int]:
        """Return the bits of each value that the block returns, and those of everything in it."""
        returned: list[int] = []
        contents = 0
        for statement in self._read.of(span):
            self._statements += 1
            if self._statements > _MOST_STATEMENTS:
                raise ProgramUnreadable(f"its calls unfold to more than {_MOST_STATEMENTS} statements")
            given = [values.get(name, values.get(name.partition("#")[0], 0)) for name in statement.operands]
            if statement.returns:
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
        self, statement: Statement, given: list[int], values: dict[str, int], in_round: bool, depth: int
    ) -> tuple[list[int], int]:
        """Return the bits of each result, and those of everything in the statement."""
        before = 0
        for bits in given:
            before |= bits
        operation, called = statement.operation, self._read.called(statement)
        if called is not None:
            return self._call(called, tuple(given), in_round, depth)
        if operation in {"sdy.manual_computation", "stablehlo.while"} and statement.regions:
            # In the body, the arguments have other names.
            body = statement.regions[-1]
            if operation == "stablehlo.while":
                # At the start of a round, nothing in it has happened yet.
                _, inside = self._block(body, {}, True, depth)
                return self._one(statement, before, inside, "", in_round)
            names = self._read.block_arguments(body)
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

    def _one(self, statement: Statement, before: int, inside: int, kind: str, in_round: bool) -> tuple[list[int], int]:
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
