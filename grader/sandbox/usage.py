"""Read the CPU time and resident memory of a process from outside, where it cannot change them."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """`cpu_s` is the user and system time of all threads, `resident_bytes` the memory held now."""

    cpu_s: float
    resident_bytes: int
    threads: int = 0

    def at_least(self, other: "Usage") -> "Usage":
        return Usage(
            max(self.cpu_s, other.cpu_s),
            max(self.resident_bytes, other.resident_bytes),
            max(self.threads, other.threads),
        )


def usage_of(pid: int) -> Usage:
    """The usage of one process, all zero once it has ended. The walls keep it from starting others."""
    try:
        # The second field is a name in brackets with arbitrary contents, so count from the last bracket.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0.0, 0)
    cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    return Usage(cpu_s, int(fields[21]) * _PAGE_BYTES, int(fields[17]))


def delays_of(pid: int) -> dict[int, float]:
    """Seconds that each thread was ready to run but waited for a core; empty if the kernel does not count them.

    Source: https://docs.kernel.org/scheduler/sched-stats.html, /proc/PID/task/TID/schedstat
    """
    delays: dict[int, float] = {}
    try:
        for task in os.scandir(f"/proc/{pid}/task"):
            with suppress(FileNotFoundError, ProcessLookupError, IndexError):
                delays[int(task.name)] = int(Path(task.path, "schedstat").read_text().split()[1]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return delays
    return delays


def cpu_s_below(root: int) -> float:
    """CPU seconds of a process and all of its descendants, including those that have ended."""
    fields = _fields_of_all()
    return sum(sum(map(int, fields[pid][11:15])) for pid in _below(root, fields) if pid in fields) / _TICKS_PER_S


class Idleness:
    """Measures how long a process has been idle, neither computing nor waiting for a core."""

    # CPU seconds that still count as idle, because some threads check a clock now and then.
    _NOTHING_S = 0.02

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since = time.monotonic()
        self._seen = 0.0

    def seconds(self) -> float:
        """The seconds that it has been idle, as far as earlier calls show."""
        seen = usage_of(self._pid).cpu_s + sum(delays_of(self._pid).values())
        if seen - self._seen > self._NOTHING_S:
            self._since, self._seen = time.monotonic(), seen
        return time.monotonic() - self._since


def descendants(root: int) -> list[int]:
    """The process and all of its descendants, parents first."""
    return _below(root, _fields_of_all())


def _below(root: int, fields: Mapping[int, Sequence[bytes]]) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid, each in fields.items():
        children.setdefault(int(each[1]), []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


def _fields_of_all() -> dict[int, list[bytes]]:
    """The fields of /proc/PID/stat of each process, after its name.

    The kernel also lists the children of each thread, but that takes twenty times as long if some have many threads.
    """
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{name}/stat", "rb", buffering=0) as file:
                found[int(name)] = file.read().rpartition(b")")[2].split()
    return found
