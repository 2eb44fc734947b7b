"""CPU and resident memory of a tree of processes, read from outside, where the tree has no say."""

import os
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """`cpu_s` is user and system time of all of them, `resident_bytes` what they hold in memory now."""

    cpu_s: float
    resident_bytes: int


def usage_of_tree(root: int) -> Usage:
    """Add up a process and all below it. Those that end while being read count as nothing."""
    cpu_ticks = resident_pages = 0
    for pid in descendants(root):
        try:
            # The second field is a name in brackets and may hold anything, so count from the last bracket on.
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        cpu_ticks += sum(int(field) for field in fields[11:15])
        resident_pages += int(fields[21])
    return Usage(cpu_ticks / _TICKS_PER_S, resident_pages * _PAGE_BYTES)


def descendants(root: int) -> list[int]:
    """The process and all below it, parents first."""
    found = [root]
    for pid in found:
        try:
            for task in os.scandir(f"/proc/{pid}/task"):
                found += [int(child) for child in Path(task.path, "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
