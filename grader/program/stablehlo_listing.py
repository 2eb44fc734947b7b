"""List an exported program for people: its StableHLO by function, as JAX wrote it, before it is partitioned."""

import re
from collections.abc import Iterator

from grader.program.listing import LONGEST, MAX_INSTRUCTIONS, ListedComputation, ListedInstruction, Listing
from grader.program.stablehlo_locations import Locations

_LOCATION = re.compile(r" loc\((.*)\)$")
_FUNCTION = re.compile(r"func\.func \w+ @([\w.$-]+)|func\.func @([\w.$-]+)")
# The locations of arguments, which a reader does not need.
_OF_ARGUMENT = re.compile(r' loc\((?:unknown|"[^"]*"|#loc\d*)\)')


def list_written(text: str, source: str = "submission.py") -> Listing:
    """List the operations of each function, `main` first.

    Args:
      text: the text of a module, with locations.
      source: the name of the file that `line` refers to.
    """
    rows = text.splitlines()
    locations = Locations(text, source)
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
            listed.append(ListedInstruction(shown[:LONGEST], locations.line(location[1]) if location else None))
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
