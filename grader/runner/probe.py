"""Tries to cross every wall from the inside and reports what gave way. Ours, run in the place of a submission.

Usage: `python -I -B probe.py CONFINEMENT_JSON TARGETS_JSON`. The first frame it sends holds, by wall, a list of
what it could do and should not have been able to. After any request it takes memory until it is stopped.
"""

import json
import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

# Isolated mode leaves our own folder off the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.runner import wire
from grader.runner.confine import Confinement, confine


def main() -> None:
    confinement, targets = Confinement.from_json(sys.argv[1]), json.loads(sys.argv[2])
    confine(confinement)
    crossed = {"namespaces": _namespaces(targets), "rlimits": _rlimits(confinement)}
    with os.fdopen(confinement.fd, "r+b", buffering=0) as channel:
        channel.write(wire.pack({"ok": True, "crossed": crossed}))
        wire.read_frame(channel, max_payload_bytes=0)
        hoard = []
        while True:
            hoard.append(b"\1" * (16 << 20))


def _namespaces(targets: dict[str, str]) -> list[str]:
    """`targets` names, on the host, a readable `file` and the `port` of a server on its loopback."""
    attempts: dict[str, Callable[[], object]] = {
        "read a file of the host": lambda: Path(targets["file"]).read_bytes(),
        "reach a server on the host": lambda: socket.create_connection(("127.0.0.1", int(targets["port"])), timeout=1),
        "see the processes of the host": _see_processes,
        "write to its root folder": lambda: Path("/probe").write_text("x"),
        "write to the interpreter's folder": lambda: Path(sys.prefix, "probe").write_text("x"),
        "write to the kernel's settings": lambda: Path("/proc/sys/kernel/core_pattern").open("r+").close(),
        "become root": lambda: os.setuid(0),
        "mount a file system": _mount,
    }
    return [what for what, attempt in attempts.items() if _succeeds(attempt)]


def _see_processes() -> None:
    # In a namespace of its own bwrap is the first process and this one the second.
    if os.getpid() == 2:
        raise ProcessLookupError("alone")


def _mount() -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "mount")


def _rlimits(confinement: Confinement) -> list[str]:
    wanted = {
        "take any amount of address space for data": (resource.RLIMIT_DATA, confinement.data_bytes),
        "write a file of any size": (resource.RLIMIT_FSIZE, confinement.file_bytes),
        "use any amount of CPU time": (resource.RLIMIT_CPU, confinement.cpu_s),
        "start any number of tasks": (resource.RLIMIT_NPROC, confinement.tasks),
        "open any number of files": (resource.RLIMIT_NOFILE, confinement.open_files),
        "leave a core dump": (resource.RLIMIT_CORE, 0),
    }
    crossed = [what for what, (limit, value) in wanted.items() if resource.getrlimit(limit)[1] != value]
    if _succeeds(lambda: bytearray(confinement.data_bytes)):
        crossed.append("allocate past the limit on data")
    if _succeeds(lambda: resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))):
        crossed.append("lift its own limits")
    return crossed


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main()
