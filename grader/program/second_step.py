"""Find out from an exported program of two steps whether JAX traces the second one again.

JAX writes each function that it traced once as one function of the module. If a state comes back with the types that it
went in with, both steps call the same function. If a weak type has changed, or on Explicit axes a sharding, JAX traces
the step again for the second call, and writes a second function, even if both compute the same.

Calls: https://mlir.llvm.org/docs/Dialects/Func/#funccall-funccallop
"""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.program.shard_map_regions import behind
from grader.program.stablehlo_statements import RETURNS
from grader.program.tokens import ProgramUnreadable, Tokens, cut_mlir

_CALLS = frozenset({"call", "func.call"})


def is_traced_again(step: Tokens, two_steps: str, state: int) -> bool:
    """Whether the second of two steps calls another function than the first.

    Args:
      step: a module whose `main` takes a state and inputs, and returns the next state and a loss.
      two_steps: the text of a module that calls this step twice, the second time with the state that the first
        returned. Empty if there is no such module, because the second step could not be traced.
      state: how many leaves the state has.
    Raises:
      ProgramUnreadable: `two_steps` is something else, or the function that it calls is not the step.
    """
    if not two_steps:
        return True
    one, two = _Module.read(step), _Module.read(cut_mlir(two_steps))
    calls = [*_calls(two.body("@main"))]
    names = [f"%arg{number}" for number in range(one.arguments)]
    if len(calls) != 2 or calls[0].operands != names:
        raise ProgramUnreadable("the program of two steps does not call the step twice")
    first, second = calls
    if second.operands != [*first.results(state), *names[state:]]:
        raise ProgramUnreadable("the second of two steps does not get the state of the first")
    if first.function != second.function:
        return True
    if not _are_equal(one, "@main", two, first.function):
        raise ProgramUnreadable("the program of two steps does not call the step that is graded")
    return False


@dataclass(frozen=True, slots=True)
class _Module:
    """The functions of a module, and how many arguments its `main` has."""

    tokens: Tokens
    bodies: dict[str, tuple[int, int]]
    arguments: int

    @classmethod
    def read(cls, tokens: Tokens) -> "_Module":
        bodies: dict[str, tuple[int, int]] = {}
        arguments = 0
        for at in tokens.positions("func.func"):
            at += 2 if tokens[at + 1] in {"public", "private"} else 1
            name, opening = tokens[at], at + 1
            if name[:1] != "@" or name in bodies or tokens[opening] != "(":
                raise tokens.error(at, "a function with a name of its own")
            if name == "@main":
                arguments = _count(tokens, opening)
            end = opening
            # The body is the first block behind the results, whose types and attributes are in parentheses.
            while tokens[end] != "{":
                if end >= tokens.end:
                    raise tokens.error(end, "the body of a function")
                end = behind(tokens, end)
                if tokens[end] == "attributes":
                    end = behind(tokens, end + 1)
            bodies[name] = (end + 1, tokens.partners[end])
        if "@main" not in bodies:
            raise ProgramUnreadable("the text has no function `main`")
        return cls(tokens, bodies, arguments)

    def body(self, name: str) -> list[str]:
        """The tokens of a function's body, without locations."""
        at, end = self.bodies[name]
        items, found = self.tokens.items, list[str]()
        while at < end:
            if items[at] == "loc" and items[at + 1] == "(":
                at = behind(self.tokens, at + 1)
                continue
            found.append(items[at])
            at += 1
        return found


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: the name of what it returns, the values that it takes, and the function."""

    value: str
    returns_several: bool
    operands: list[str]
    function: str

    def results(self, number: int) -> list[str]:
        """The names of the first results. The text says how many there are, which may be any number."""
        return [f"{self.value}#{index}" for index in range(number)] if self.returns_several else [self.value][:number]


def _calls(body: list[str]) -> Iterator[_Call]:
    """Yield the calls of a body. All other statements must be constraints, which state the shardings of results.

    A call is `%0:3 = call @step(%arg0, %arg1) : (types) -> (types)`, or has `%0` alone if there is one result. On
    Explicit axes, some versions of JAX write `%1 = sdy.sharding_constraint %0#0 <@mesh, [{"x"}]> : type` behind it.
    """
    stated: dict[str, str] = {}
    at = 0
    while at < len(body) and body[at] not in RETURNS:
        value = body[at]
        at += 1
        returns_several = body[at : at + 1] == [":"]
        at += 2 * returns_several
        equals, operation, operand, opening = (*body[at : at + 4], "", "", "", "")[:4]
        if value[:1] != "%" or equals != "=":
            raise _other()
        if operation == "sdy.sharding_constraint":
            stated[value] = stated.get(operand, operand)
            at += 3
        elif operation in _CALLS and opening == "(":
            # A bracket that opens here also closes, which was checked when the text was cut.
            end = body.index(")", at)
            operands = [stated.get(each, each) for each in body[at + 4 : end] if each != ","]
            yield _Call(value, returns_several, operands, operand)
            at = end + 1
        else:
            raise _other()
        # No name of a value stands between the operands and the next statement.
        while at < len(body) and body[at][:1] != "%" and body[at] not in RETURNS:
            at += 1


def _other() -> ProgramUnreadable:
    return ProgramUnreadable("the program of two steps has other operations than calls")


def _are_equal(one: _Module, name: str, two: _Module, other: str) -> bool:
    """Whether two functions have the same statements, and so do the functions that they call, whatever their names."""
    counterparts = {name: other}
    waiting = [name]
    while waiting:
        function = waiting.pop()
        mine, theirs = one.body(function), two.body(counterparts[function])
        if len(mine) != len(theirs):
            return False
        for this, that in zip(mine, theirs, strict=True):
            if this in one.bodies and that in two.bodies:
                if this not in counterparts:
                    counterparts[this] = that
                    waiting.append(this)
                elif counterparts[this] != that:
                    return False
            elif this != that:
                return False
    return True


def _count(tokens: Tokens, opening: int) -> int:
    """How many arguments are in the parentheses that open there."""
    return sum(token[:4] == "%arg" for token in tokens.items[opening : tokens.partners[opening]])
