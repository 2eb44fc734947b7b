"""CPU and resident memory of a process, read from outside, where it has no say."""

import os
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """`cpu_s` is user and system time of all its threads, `resident_bytes` what it holds in memory now."""

    cpu_s: float
    resident_bytes: int


def usage_of(pid: int) -> Usage:
    """Usage of one process, whose own processes no wall lets come into being; all zero once it has ended."""
    try:
        # The second field is a name in brackets and may hold anything, so count from the last bracket on.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0.0, 0)
    return Usage((int(fields[11]) + int(fields[12])) / _TICKS_PER_S, int(fields[21]) * _PAGE_BYTES)


def delayed_s_of(pid: int) -> float:
    """Seconds that the main thread of a process was ready to run and had no core to run on; 0 where nobody counts it.

    Source: https://docs.kernel.org/scheduler/sched-stats.html, /proc/PID/schedstat
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0.0


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
