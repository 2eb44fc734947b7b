"""Find the source lines of operations in an exported program, whose locations follow it.

https://mlir.llvm.org/docs/Dialects/Builtin/#location-attributes
"""

import re
from functools import cache
from typing import TypeAlias

from grader.program.shard_map_regions import behind
from grader.program.tokens import Tokens

_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_OF_ROW = re.compile(r" loc\((.*)\)$")
_IN_FILE = re.compile(r'"([^"]*)":(\d+):\d+')
_REFERENCE = re.compile(r"#loc\d*")
# The most locations to follow from one location. More of them mean a loop, or a program that no one wrote.
_MOST_STEPS = 200
# The most tokens and brackets between the name of an operation and its location.
_LONGEST = 400
# A line of the text, and the line of the source that its location names.
Row: TypeAlias = tuple[str, int | None]


class Locations:
    """The locations of a module.

    Args:
      text: the text of the module.
      source: the name of the file whose lines are found.
    """

    def __init__(self, text: str, source: str) -> None:
        self._known = dict(_DEFINITION.findall(text))
        self._source = source
        self.line = cache(self._line)

    def of_row(self, row: str) -> int | None:
        """The line of an operation whose location ends a line of the text."""
        found = _OF_ROW.search(row)
        return self.line(found[1]) if found else None

    def after(self, tokens: Tokens, at: int) -> int | None:
        """The line of the operation at a token, if it has no regions."""
        for _ in range(_LONGEST):
            at = behind(tokens, at)
            if tokens[at] in {"", ")", "]", "}"}:
                return None
            if tokens[at] == "loc" and tokens[at + 1] == "(":
                return self.line("".join(tokens.items[at + 2 : tokens.partners[at + 1]]))
        return None

    def _line(self, location: str) -> int | None:
        """The innermost line of the source. A callsite names the callee first."""
        waiting = [location]
        for _ in range(_MOST_STEPS):
            if not waiting:
                return None
            here = waiting.pop()
            in_file = _IN_FILE.match(here)
            if in_file and in_file[1] == self._source:
                return int(in_file[2][:9])
            waiting += [self._known[name] for name in reversed(_REFERENCE.findall(here)) if name in self._known]
        return None
