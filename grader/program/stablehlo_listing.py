"""List an exported program for people: its StableHLO by function, as JAX wrote it, before it is partitioned.

Every line refers to its location, and the locations follow the program:
https://mlir.llvm.org/docs/Dialects/Builtin/#location-attributes
"""

import re
from collections.abc import Iterator
from functools import cache

from grader.program.listing import LONGEST, MAX_INSTRUCTIONS, ListedComputation, ListedInstruction, Listing

_LOCATION = re.compile(r" loc\((.*)\)$")
_DEFINITION = re.compile(r"(#loc\d*) = loc\((.*)\)$")
_FUNCTION = re.compile(r"func\.func \w+ @([\w.$-]+)|func\.func @([\w.$-]+)")
_IN_FILE = re.compile(r'"([^"]*)":(\d+):\d+')
_REFERENCE = re.compile(r"#loc\d*")
# The locations of arguments, which a reader does not need.
_OF_ARGUMENT = re.compile(r' loc\((?:unknown|"[^"]*"|#loc\d*)\)')
# The most locations to follow from one location. More of them mean a loop, or a program that no one wrote.
_MOST_STEPS = 200


def list_written(text: str, source: str = "submission.py") -> Listing:
    """List the operations of each function, `main` first.

    Args:
      text: the text of a module, with locations.
      source: the name of the file that `line` refers to.
    """
    rows = text.splitlines()
    known = {each[1]: each[2] for row in rows if (each := _DEFINITION.match(row))}
    line_of = cache(lambda location: _line(location, known, source))
    found: list[ListedComputation] = []
    room, left_out = MAX_INSTRUCTIONS, 0
    for name, body in _functions(rows):
        listed = []
        for row in body:
            if room == 0:
                left_out += 1
                continue
            room -= 1
            location = _LOCATION.search(row)
            shown = _OF_ARGUMENT.sub("", row if location is None else row[: location.start()])
            listed.append(ListedInstruction(shown[:LONGEST], line_of(location[1]) if location else None))
        if listed:
            found.append(ListedComputation(name[:LONGEST], "" if name == "main" else "function", tuple(listed)))
    return Listing(tuple(sorted(found, key=lambda each: each.name != "main")), left_out)


def _functions(rows: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The name and the lines of each function, without their common indentation."""
    name, body = "", []
    for row in rows:
        if found := _FUNCTION.match(row.strip()):
            name, body = found[1] or found[2], [row.strip()]
        elif name and row.startswith("  }"):
            yield name, body
            name = ""
        elif name:
            body.append(row.removeprefix("    "))


def _line(location: str, known: dict[str, str], source: str) -> int | None:
    """The innermost line of the source. A callsite names the callee first."""
    waiting = [location]
    for _ in range(_MOST_STEPS):
        if not waiting:
            return None
        here = waiting.pop()
        in_file = _IN_FILE.match(here)
        if in_file and in_file[1].rsplit("/", 1)[-1] == source:
            return int(in_file[2][:9])
        waiting += [known[name] for name in reversed(_REFERENCE.findall(here)) if name in known]
    return None
