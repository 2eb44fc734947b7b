"""List a jaxpr as JAX prints it, with the line of each equation apart from its text."""

import re

from grader.program.listing import LONGEST, MAX_INSTRUCTIONS, ListedComputation, ListedInstruction, Listing

# What `source_info=True` adds to a row: the file, line, column and function. JAX's own rows have none.
_MARK = " # "
_SOURCE = re.compile(r"([\w./<>-]{1,200}):(\d{1,9})(?::\d{1,9})?(?: \(.{0,200}\))?", re.ASCII)


def list_jaxpr(text: str, source: str = "submission.py") -> Listing:
    """List the rows of a printed jaxpr as the instructions of one computation, or of none if it is empty.

    Args:
      source: the name of the file that `line` refers to.
    """
    rows = text.splitlines()
    listed = tuple(_instruction(row, source) for row in rows[:MAX_INSTRUCTIONS])
    computations = (ListedComputation("jaxpr", "", listed),) if listed else ()
    return Listing(computations, max(0, len(rows) - MAX_INSTRUCTIONS))


def _instruction(row: str, source: str) -> ListedInstruction:
    equation, mark, origin = row.rpartition(_MARK)
    found = _SOURCE.fullmatch(origin.strip())
    if not mark or (found is None and origin.strip()):
        return ListedInstruction(row.rstrip()[:LONGEST], None)
    return ListedInstruction(equation.rstrip()[:LONGEST], int(found[2]) if found and found[1] == source else None)
