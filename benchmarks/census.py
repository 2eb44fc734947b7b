"""The resources of a sandbox's supervisor: descriptors, processes, mounts, scratch, memory."""

import gc
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.usage import descendants

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Census:
    """A count of each resource.

    `mounts` counts the mounts that this process sees, `mount_namespaces` the namespaces of its process tree, and
    `scratch` the files and folders in the scratch folder.
    """

    descriptors: int
    processes: int
    threads: int
    mounts: int
    mount_namespaces: int
    scratch: int
    resident_mb: float

    def left_since(self, before: "Census") -> list[str]:
        """Describe each resource that has grown. Memory is left out, because it may grow a little."""
        names = ("descriptors", "processes", "threads", "mounts", "mount_namespaces", "scratch")
        pairs = [(name, getattr(before, name), getattr(self, name)) for name in names]
        return [f"{name.replace('_', ' ')}: {then} before, {now} now" for name, then, now in pairs if now > then]


def take_census(scratch: Path) -> Census:
    """Count the resources of this process and its descendants. All its temporary files are created in `scratch`."""
    gc.collect()
    tree = descendants(os.getpid())
    return Census(
        descriptors=len(os.listdir("/proc/self/fd")),
        processes=len(tree),
        threads=threading.active_count(),
        mounts=len(Path("/proc/self/mountinfo").read_text().splitlines()),
        mount_namespaces=len({name for pid in tree if (name := _mount_namespace(pid))}),
        scratch=sum(1 for _ in scratch.rglob("*")),
        resident_mb=int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES / (1 << 20),
    )


def _mount_namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # it has ended, or now belongs to another user
        return ""
