"""Read the sharding constraints of an exported program: the array of each one, and the lines before and after it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.program.stablehlo_locations import Row

_FUNCTION = re.compile(r"func\.func (?:\w+ )?@([\w.$-]+)")
_DEFINED = re.compile(r"\s*%([\w.$-]+)(?::\d+)? = ")
_VALUE = re.compile(r"%([\w.$-]+)")
_CONSTRAINT = re.compile(r'"?sdy\.sharding_constraint"?[ (]+%([\w.$-]+)[ #)].*: .*?tensor<((?:\d+x)*)\w+>')
_ARGUMENT = re.compile(r"arg(\d{1,9})")
_RETURNS = re.compile(r"\s*(?:[\w.]+\.)?return\b")
# No program needs more constraints, and no size has more digits.
_LONGEST_SIZE = 15
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class ShardingConstraint:
    """One `with_sharding_constraint`, or what JAX made of it in a backward pass.

    Attributes:
      elements: the number of elements of the whole array.
      argument: the number of the program's argument, if that is what it constrains.
      made_by: the line that computes the array; None if it is unknown or an argument.
      used_by: the lines that use the result.
    """

    line: int
    elements: int
    argument: int | None
    made_by: int | None
    used_by: frozenset[int]


@dataclass(slots=True)
class _Open:
    """A constraint whose result may still be used."""

    line: int
    elements: int
    argument: int | None
    made_by: int | None
    used_by: set[int] = field(default_factory=set)


def read_constraints(rows: Sequence[Row]) -> tuple[ShardingConstraint, ...]:
    """The constraints that have a line, at most the first 1,000.

    Args:
      rows: the rows of a module, in which JAX writes each operation on a line of its own.
    """
    found: list[_Open] = []
    waiting: dict[str, _Open] = {}
    made: dict[str, int | None] = {}
    function = ""
    for row, line in rows:
        if opening := _FUNCTION.search(row):
            function = opening[1]
            made, waiting = {}, {}
            continue
        defined = _DEFINED.match(row)
        used = row[defined.end() :] if defined else row
        if waiting and not _RETURNS.match(row) and line is not None:
            for name in _VALUE.findall(used):
                if name in waiting:
                    waiting[name].used_by.add(line)
        if defined is None:
            continue
        name = defined[1]
        waiting.pop(name, None)
        made[name] = line
        constraint = _CONSTRAINT.match(used)
        if constraint and line is not None and len(found) < _MOST:
            operand = constraint[1]
            argument = _ARGUMENT.fullmatch(operand) if function == "main" and operand not in made else None
            each = _Open(line, _product(constraint[2]), int(argument[1]) if argument else None, made.get(operand))
            found.append(each)
            waiting[name] = each
    return tuple(
        ShardingConstraint(each.line, each.elements, each.argument, each.made_by, frozenset(each.used_by))
        for each in found
    )


def _product(sizes: str) -> int:
    product = 1
    for size in sizes.split("x")[:-1]:
        product *= int(size[:_LONGEST_SIZE])
    return product
