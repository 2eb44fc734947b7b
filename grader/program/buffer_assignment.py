"""Read how much memory a program takes on one device from the text in which XLA writes its buffer assignment.

The compiler for GPUs writes it before it makes machine code, so the program's memory is known without machine code.
"""

import re
from dataclasses import dataclass

from grader.program.memory import Memory
from grader.program.tokens import ProgramUnreadable, integer

_ALLOCATION = re.compile(r"allocation \d{1,19}: size (\d{1,19})(?:, (.*))?:")
# XLA's memory space of the host, `xla::Layout::kHostMemorySpace`.
_ON_HOST = re.compile(r"(?:.*, )?color 5(?:,.*)?")
_VALUE = re.compile(r" value: <\d{1,19} (\S+) @\d{1,19}> \(size=(\d{1,19}),offset=(\d{1,19})\): (\S+)")
# The second result of a cuBLAS call is its workspace: 4 MiB and more, however small the product is.
_WORKSPACE = re.compile(r"(?:custom-call|cublas)[\w.-]*\{1\} s8\[\d+\].*")


@dataclass(frozen=True, slots=True)
class Assigned:
    """The memory of a program on one device: all that it allocates there, and what it keeps in the host's memory."""

    memory: Memory
    allocated_bytes: int
    host_bytes: int


def read_buffer_assignment(text: str) -> Assigned:
    """Read the bytes of all allocations, which exist while the program runs.

    Temporaries are the bytes that arrays occupy at some time. The workspaces of cuBLAS count as allocated, but not as
    temporaries.

    Raises:
      ProgramUnreadable: no line describes an allocation.
    """
    arguments = outputs = temporaries = aliases = everything = on_host = 0
    ranges: list[tuple[int, int]] | None = None
    for line in text.splitlines():
        found = _ALLOCATION.fullmatch(line)
        if found is None:
            value = None if ranges is None else _VALUE.match(line)
            if value is not None and ranges is not None and not _WORKSPACE.fullmatch(f"{value[1]} {value[4]}"):
                start = integer(value[3]) or 0
                ranges.append((start, start + (integer(value[2]) or 0)))
            continue
        temporaries += _covered(ranges or [])
        size, what = integer(found[1]) or 0, found[2] or ""
        if _ON_HOST.fullmatch(what):
            on_host += size
            ranges = None
            continue
        is_argument, is_live_out = what.startswith("parameter "), what.endswith("maybe-live-out")
        arguments += size * is_argument
        outputs += size * is_live_out
        aliases += size * (is_argument and is_live_out)
        ranges = [] if "preallocated-temp" in what else None
        everything += size
    if not everything:
        raise ProgramUnreadable("the compiler wrote no buffer assignment")
    return Assigned(Memory(arguments, outputs, temporaries + _covered(ranges or []), aliases), everything, on_host)


def _covered(ranges: list[tuple[int, int]]) -> int:
    """The bytes in at least one of these ranges."""
    covered = end = 0
    for start, stop in sorted(ranges):
        covered += max(0, stop - max(start, end))
        end = max(end, stop)
    return covered
