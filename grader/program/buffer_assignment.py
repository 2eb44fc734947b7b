"""Read how much memory a program takes on one device from the text in which XLA writes its buffer assignment.

The compiler for GPUs writes it before it makes machine code, so the program's memory is known without machine code.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.program.memory import Memory
from grader.program.tokens import ProgramUnreadable, integer

_ALLOCATION = re.compile(r"allocation \d{1,19}: size (\d{1,19})(?:, (.*))?:")
# XLA's memory space of the host, `xla::Layout::kHostMemorySpace`.
_ON_HOST = re.compile(r"(?:.*, )?color 5(?:,.*)?")
_VALUE = re.compile(r" value: <\d{1,19} (\S+) @\d{1,19}> \(size=(\d{1,19}),offset=(\d{1,19})\): (\S+)")
# The second result of a cuBLAS call is its workspace: 4 MiB and more, however small the product is.
_WORKSPACE = re.compile(r"(?:custom-call|cublas)[\w.-]*\{1\} s8\[\d+\].*")


@dataclass(frozen=True, slots=True)
class Temporary:
    """An array in the temporary memory number `allocation`, at these bytes of it. `name` is that of the instruction."""

    name: str
    allocation: int
    start: int
    stop: int
    is_workspace: bool

    def shortened(self, count: int) -> "Temporary":
        """The array without its last bytes."""
        return replace(self, stop=max(self.start, self.stop - count))


@dataclass(frozen=True, slots=True)
class Assigned:
    """The memory of a program on one device: all that it allocates there, and what it keeps in the host's memory."""

    memory: Memory
    allocated_bytes: int
    host_bytes: int
    temporaries: tuple[Temporary, ...] = ()


def read_buffer_assignment(text: str) -> Assigned:
    """Read the bytes of all allocations, which exist while the program runs.

    Temporaries are the bytes that arrays occupy at some time. The workspaces of cuBLAS count as allocated, but not as
    temporaries.

    Raises:
      ProgramUnreadable: no line describes an allocation.
    """
    arguments = outputs = aliases = everything = on_host = 0
    temporaries: list[Temporary] = []
    allocation, is_temporary = 0, False
    for line in text.splitlines():
        found = _ALLOCATION.fullmatch(line)
        if found is None:
            value = _VALUE.match(line) if is_temporary else None
            if value is not None:
                temporaries.append(_temporary(value, allocation))
            continue
        allocation += 1
        size, what = integer(found[1]) or 0, found[2] or ""
        if _ON_HOST.fullmatch(what):
            on_host += size
            is_temporary = False
            continue
        is_argument, is_live_out = what.startswith("parameter "), what.endswith("maybe-live-out")
        arguments += size * is_argument
        outputs += size * is_live_out
        aliases += size * (is_argument and is_live_out)
        is_temporary = "preallocated-temp" in what
        everything += size
    if not everything:
        raise ProgramUnreadable("the compiler wrote no buffer assignment")
    held = covered_bytes(each for each in temporaries if not each.is_workspace)
    return Assigned(Memory(arguments, outputs, held, aliases), everything, on_host, tuple(temporaries))


def _temporary(value: re.Match[str], allocation: int) -> Temporary:
    start = integer(value[3]) or 0
    is_workspace = _WORKSPACE.fullmatch(f"{value[1]} {value[4]}") is not None
    return Temporary(value[1].partition("{")[0], allocation, start, start + (integer(value[2]) or 0), is_workspace)


def covered_bytes(temporaries: Iterable[Temporary]) -> int:
    """The bytes that at least one of these arrays occupies."""
    covered, end = 0, (0, 0)
    for allocation, start, stop in sorted((each.allocation, each.start, each.stop) for each in temporaries):
        before = end[1] if end[0] == allocation else 0
        covered += max(0, stop - max(start, before))
        end = allocation, max(before, stop)
    return covered
