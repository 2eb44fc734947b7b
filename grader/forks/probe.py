"""Try to cross every wall from the inside, and report what worked. Our code runs here instead of a submission.

The first frame lists, for each wall, what the probe could do but should not. After the next request, it allocates
memory until it is stopped.
"""

import ctypes
import os
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from grader.confined.confine import SCRATCH, limit_memory
from grader.confined.request_loop import Fields
from grader.core import wire

_DATA_BYTES, _ADDRESS_BYTES = 1 << 30, 16 << 30
_FAR_BYTES, _MOST_FILES = 1 << 30, 1024
_PR_GET_DUMPABLE = 3
# The host name that bubblewrap sets inside the sandbox.
HOST_NAME = "sandbox"


def probe(fd: int, targets: Fields) -> None:
    """Try the walls, report on `fd`, then allocate memory until it is stopped.

    Args:
      targets: a readable `file` on the host, the `port` of a server there and the key of a `segment` of shared memory;
        `other`, another process of the sandbox; `user`, whether the fork changed its user; the `walls` to try (not
        those that are down: without seccomp, this process would become another program); the file `leaves` to leave in
        scratch; and `finds`, a file that another living probe has left in its own scratch.
    """
    if "leaves" in targets:
        # Without a scratch folder there is nothing to find, and `confine` has checked whether there should be one.
        with suppress(OSError):
            Path(SCRATCH, targets["leaves"]).write_text("x")
    limit_memory(_DATA_BYTES, _ADDRESS_BYTES)
    attempts = attempts_on(targets)
    crossed = {wall: _crossed(attempts[wall]) for wall in targets["walls"]}
    with os.fdopen(fd, "r+b", buffering=0) as channel:
        channel.write(wire.pack({"ok": True, "crossed": crossed}))
        wire.read_frame(channel, max_payload_bytes=0)
        hoard = []
        while True:
            hoard.append(b"\1" * (16 << 20))


Attempts = dict[str, Callable[[], object]]


def attempts_on(targets: Fields) -> dict[str, Attempts]:
    """Return what to try, by the wall that should prevent it."""
    return {
        "namespaces": _namespaces(targets),
        "landlock": _landlock(),
        "seccomp": _seccomp(targets),
        "rlimits": _rlimits(),
        # This is tried last and judged from outside, because it ends this process.
        "memory": {},
    }


def _crossed(attempts: Attempts) -> list[str]:
    return [what for what, attempt in attempts.items() if _succeeds(attempt)]


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError, ValueError):
        return False
    return True


def _namespaces(targets: Fields) -> Attempts:
    return {
        "read a file of the host": lambda: Path(targets["file"]).read_bytes(),
        "write to its root folder": lambda: Path("/probe").write_text("x"),
        "write to the packages": lambda: Path(sys.prefix, "probe").write_text("x"),
        "write to the kernel's settings": lambda: Path("/proc/sys/kernel/core_pattern").open("r+").close(),
        "gain the rights of a program's owner": _gain_rights_of_owner,
        "become root": lambda: os.setuid(0),
        "mount a file system": lambda: _call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "reach a server on the host": lambda: socket.create_connection(("127.0.0.1", int(targets["port"])), 1).close(),
        "see the processes of the host": _see_processes,
        "see the scratch of another submission": lambda: Path(SCRATCH, targets["finds"]).read_text(),
        "write more than its scratch may hold": _fill_scratch,
        "share memory with processes of the host": lambda: _call("shmget", int(targets["segment"]), 0, 0),
        "see the name of the host": _see_host_name,
        "stay in the session of the service": _stay_in_session,
        "stay in a group of the service": lambda: _stay_in_group(became_user=bool(targets["user"])),
        "be traced by another process of its user": _be_traced,
    }


def _landlock() -> Attempts:
    return {
        "list the root folder": lambda: os.listdir("/"),
        "read outside the packages": lambda: os.listdir("/dev/pts"),
        "make a link in its scratch": lambda: os.symlink("/", f"{SCRATCH}/link"),
        "make a pipe in its scratch": lambda: os.mkfifo(f"{SCRATCH}/pipe"),
    }


def _seccomp(targets: Fields) -> Attempts:
    return {
        "start a process": _fork,
        "execute a program": lambda: os.execv(sys.executable, [sys.executable, "-c", "pass"]),
        "open a socket": lambda: socket.socket().close(),
        "open a socket pair": lambda: socket.socketpair()[0].close(),
        "signal another process": lambda: os.kill(int(targets["other"]), 0),
        "signal itself": lambda: os.kill(os.getpid(), 0),
        "trace a process": lambda: _call("ptrace", 0, 0, 0, 0),
        "make a namespace": lambda: _call("unshare", 0x10000000),
        "keep a file in memory": lambda: os.close(os.memfd_create("probe")),
    }


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _see_processes() -> None:
    # In its own namespace, the zygote is about the second process; on a host, many come before it.
    if os.getppid() <= 3:
        raise ProcessLookupError("alone")


def _gain_rights_of_owner() -> None:
    if os.statvfs("/usr/lib").f_flag & os.ST_NOSUID:
        raise PermissionError("no rights of an owner")


def _see_host_name() -> None:
    if os.uname().nodename == HOST_NAME:
        raise ValueError("the name of the sandbox")


def _stay_in_session() -> None:
    # 0 means that the session's leader is in another process namespace, and could have a terminal.
    if os.getsid(0) != 0:
        raise ValueError("a session of the sandbox")


def _stay_in_group(*, became_user: bool) -> None:
    # Without root there are no groups to give up, and a user namespace shows the service's groups as nobody's.
    if not became_user or not os.getgroups():
        raise ValueError("in no group")


def _be_traced() -> None:
    # The call returns 0 if only root can attach.
    if ctypes.CDLL(None).prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0:
        raise ValueError("not dumpable")


def _fill_scratch() -> None:
    path = Path(SCRATCH, "full")
    try:
        with path.open("wb") as file:
            for _ in range(1024):
                file.write(b"1" * (1 << 20))
    finally:
        path.unlink(missing_ok=True)


def _write_far() -> None:
    path = Path(SCRATCH, "far")
    try:
        with path.open("wb") as file:
            # The file would take only one page, so only the limit on file sizes prevents it.
            file.seek(_FAR_BYTES)
            file.write(b"1")
    finally:
        path.unlink(missing_ok=True)


def _open_many() -> None:
    opened: list[int] = []
    try:
        for _ in range(_MOST_FILES):
            opened.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _rlimits() -> Attempts:
    def is_lower(limit: int, most: int) -> Callable[[], object]:
        def check() -> None:
            hard = resource.getrlimit(limit)[1]
            if hard != resource.RLIM_INFINITY and hard <= most:
                raise ValueError("limited")

        return check

    infinity = resource.RLIM_INFINITY
    return {
        "use any amount of CPU time": is_lower(resource.RLIMIT_CPU, 3600),
        "write a file of any size": is_lower(resource.RLIMIT_FSIZE, 1 << 30),
        "start any number of tasks": is_lower(resource.RLIMIT_NPROC, 8192),
        "open any number of files": is_lower(resource.RLIMIT_NOFILE, 1024),
        "leave a core dump": is_lower(resource.RLIMIT_CORE, 0),
        "keep memory from being swapped out": is_lower(resource.RLIMIT_MEMLOCK, 0),
        "fill message queues": is_lower(resource.RLIMIT_MSGQUEUE, 0),
        "write a file longer than its scratch": _write_far,
        "open more files than it may": _open_many,
        "allocate past the limit on data": lambda: bytearray(_DATA_BYTES),
        "lift its own limits": lambda: resource.setrlimit(resource.RLIMIT_DATA, (infinity, infinity)),
    }
