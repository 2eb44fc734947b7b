"""Read how much memory a program takes on one device from the text in which XLA writes its buffer assignment.

The compiler for GPUs writes it before it makes machine code, which is not needed to know the program.
"""

import re

from grader.program.memory import Memory
from grader.program.tokens import ProgramUnreadable, integer

_ALLOCATION = re.compile(r"allocation \d{1,19}: size (\d{1,19})(?:, (.*))?:")


def read_buffer_assignment(text: str) -> tuple[Memory, int]:
    """The program's memory, and the bytes of all allocations, which a device holds while it runs the program.

    Raises:
      ProgramUnreadable: no line describes an allocation.
    """
    arguments = outputs = temporaries = aliases = everything = 0
    for line in text.splitlines():
        found = _ALLOCATION.fullmatch(line)
        if found is None:
            continue
        size, what = integer(found[1]) or 0, found[2] or ""
        is_argument, is_live_out = what.startswith("parameter "), what.endswith("maybe-live-out")
        arguments += size * is_argument
        outputs += size * is_live_out
        aliases += size * (is_argument and is_live_out)
        temporaries += size * ("preallocated-temp" in what)
        everything += size
    if not everything:
        raise ProgramUnreadable("the compiler wrote no buffer assignment")
    return Memory(arguments, outputs, temporaries, aliases), everything
