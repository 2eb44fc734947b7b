"""Let the kernel bound the memory and tasks of a fork, if a cgroup v2 has been delegated to the service.

The watchdog checks resident memory every 20 ms; a cgroup bounds all memory at every moment, including page tables and
shared memory. It is used if available (systemd: `Delegate=yes`), but not required.

Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, "Delegation" and "No Internal Process Constraint".
"""

import contextlib
import os
from pathlib import Path

from grader.sandbox.usage import descendants

_MOUNT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_NEEDED = {"memory", "pids"}
# A third of the default, which the service's own group has.
_CPU_WEIGHT = 33


class Cgroups:
    """Makes one group per fork inside the delegated group. Threads may share one."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent

    @classmethod
    def delegated(cls, mount: Path = _MOUNT, own: Path = _OWN) -> "Cgroups | None":
        """Take over this process's group, or return None if it is not delegated or other processes use it, too.

        A group that contains processes cannot be divided, so this service's processes move one level down.
        """
        name = next((line[3:] for line in own.read_text().splitlines() if line.startswith("0::")), "/").strip()
        parent = mount / name.lstrip("/")
        # The root group is that of the whole machine or container, which is never delegated to a service.
        if name == "/" or not os.access(parent / "cgroup.subtree_control", os.W_OK):
            return None
        try:
            members = [int(pid) for pid in (parent / "cgroup.procs").read_text().split()]
            available = set((parent / "cgroup.controllers").read_text().split())
            if not available >= _NEEDED or not set(members) <= set(descendants(os.getpid())):
                return None
            service = parent / "service"
            service.mkdir(exist_ok=True)
            for pid in members:
                (service / "cgroup.procs").write_text(str(pid))
            added = sorted(_NEEDED | (available & {"cpu"}))
            (parent / "cgroup.subtree_control").write_text(" ".join(f"+{each}" for each in added))
        except OSError:
            # The group is not delegated to us. The other limits work without it.
            return None
        return cls(parent)

    def enclose(self, pid: int, memory_bytes: int, tasks: int) -> "Group":
        """Move a process into its own group. Raises OSError if it has ended, or the group cannot be made."""
        group = Group(self._parent / f"fork-{pid}")
        group.folder.mkdir(exist_ok=True)
        for name, value in (("memory.max", memory_bytes), ("pids.max", tasks), ("cgroup.procs", pid)):
            (group.folder / name).write_text(str(value))
        # A kernel without swap accounting does not have the first file, and a group without `cpu` not the second.
        # To write a file that is missing would fail as if it were not ours.
        for name, value in (("memory.swap.max", 0), ("cpu.weight", _CPU_WEIGHT)):
            if (group.folder / name).exists():
                (group.folder / name).write_text(str(value))
        return group


def task_limit(mount: Path = _MOUNT, own: Path = _OWN) -> int | None:
    """The limit on tasks of all processes of this container together; None if there is none."""
    name = next((line[3:] for line in own.read_text().splitlines() if line.startswith("0::")), "/").strip()
    group = mount / name.lstrip("/")
    limits = []
    for folder in (group, *group.parents):
        with contextlib.suppress(OSError, ValueError):
            # The file contains "max" if there is no limit.
            limits.append(int((folder / "pids.max").read_text()))
        if folder == mount:
            break
    return min(limits, default=None)


class Group:
    """One fork's group."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed one of its processes for using too much memory."""
        try:
            events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
        except FileNotFoundError:
            return False
        return int(events.get("oom_kill", 0)) > 0

    def remove(self) -> None:
        """Remove the group. If its process is still ending, an empty group remains, which costs nothing."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()
