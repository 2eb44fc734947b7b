"""Read the functions of an exported program statement by statement, to follow values through it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from grader.program.shard_map_regions import behind
from grader.program.tokens import Tokens, integer

RETURNS = frozenset({"return", "func.return", "stablehlo.return", "sdy.return"})
# The range of tokens of a body.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """`operands` are the values that it names outside its regions. Each region is a range of tokens.

    Its tokens begin at `at`, with the name of its operation, and end before `end`.
    """

    name: str
    results: int
    operation: str
    at: int
    end: int
    operands: tuple[str, ...]
    regions: tuple[Span, ...]

    @property
    def returns(self) -> bool:
        return self.operation in RETURNS


@dataclass(frozen=True, slots=True)
class Function:
    arguments: tuple[str, ...]
    body: Span


class Statements:
    """The functions of a module by name, and the statements of a body, each of which is read once."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.functions = dict(self._functions())
        self.of = cache(self._of)

    def _of(self, span: Span) -> tuple[Statement, ...]:
        found, at = list[Statement](), span[0]
        while at < span[1]:
            statement, at = self._statement(at, span[1])
            found.append(statement)
        return tuple(found)

    def called(self, statement: Statement) -> str | None:
        """The name of the function that a statement calls."""
        name = self.tokens[statement.at + 1]
        return name if statement.operation in {"func.call", "call"} and name in self.functions else None

    def block_arguments(self, span: Span) -> list[str]:
        """The names in the brackets before a body: `(%arg2: type, %arg3: type) {`."""
        tokens, opening = self.tokens, span[0] - 1
        if tokens[opening - 1] != ")":
            return []
        start = next((at for at in range(opening - 2, -1, -1) if tokens.partners[at] == opening - 1), opening)
        return [tokens[at] for at in range(start + 1, opening - 1) if tokens[at][:1] == "%"]

    def block_labels(self, span: Span) -> list[str]:
        """The names after the label of a body: `{ ^bb0(%arg1: type, %arg2: type):`."""
        tokens = self.tokens
        opening = next((at for at in range(span[0], min(span[0] + 3, span[1])) if tokens[at] == "("), None)
        if opening is None:
            return []
        return [tokens[at] for at in range(opening + 1, tokens.partners[opening]) if tokens[at][:1] == "%"]

    def carried(self, loop: Statement) -> list[str]:
        """The names that a loop's body has for its operands: `while(%iterArg = %4, %iterArg_0 = %5)`."""
        tokens, opening = self.tokens, loop.at + 1
        if tokens[opening] != "(":
            return []
        inside = range(opening + 1, tokens.partners[opening])
        return [tokens[at] for at in inside if tokens[at][:1] == "%" and tokens[at + 1] == "="]

    def _functions(self) -> Iterator[tuple[str, Function]]:
        tokens = self.tokens
        for at in tokens.positions("func.func"):
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
                yield tokens[name], Function(tuple(arguments), (body + 1, tokens.partners[body]))

    def _is_region(self, at: int) -> bool:
        tokens = self.tokens
        return tokens[at] == "{" and any(tokens[index] in RETURNS for index in range(at + 1, tokens.partners[at]))

    def _statement(self, at: int, end: int) -> tuple[Statement, int]:
        tokens = self.tokens
        name, results = "", 0
        if self._begins(at) and tokens[at][:1] == "%":
            several = tokens[at + 1] == ":"
            name, results = tokens[at], (integer(tokens[at + 2]) or 1) if several else 1
            at += 4 if several else 2
        start, operands, regions = at, list[str](), list[Span]()
        at += 1
        while at < end and not self._begins(at):
            self._collect(at, operands, regions)
            at = behind(tokens, at)
        return Statement(name, results, tokens[start].strip('"'), start, at, tuple(operands), tuple(regions)), at

    def _begins(self, at: int) -> bool:
        """Whether a statement begins here: `%1 =`, `%1:2 =`, or a return."""
        tokens = self.tokens
        if tokens[at][:1] == "%":
            return tokens[at + 1] == "=" or (tokens[at + 1] == ":" and tokens[at + 3] == "=")
        return tokens[at] in RETURNS

    def _collect(self, at: int, operands: list[str], regions: list[Span]) -> None:
        """Add the values and regions in one token, or in the brackets that it opens."""
        tokens = self.tokens
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
