"""Build the walls that a process can only build around itself, before it runs anything submitted."""

import json
import os
import resource
import signal
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass

from grader.confined import futexes, kernel, landlock

SCRATCH = "/tmp"
SCRATCH_FILES = 4096
# This is only a backstop for a process that is no longer watched; the limit that decides is measured outside.
_CPU_S = 3600
# Placeholder in the filter for the process's own number, which only the process itself knows.
OWN_PID = 0x7ABCDEF1


@dataclass(frozen=True, slots=True)
class Confinement:
    """The walls that each fork of a zygote builds around itself.

    Args:
      uid: the user to become; None if the service is not root.
      scratch_bytes: size of the private file system on /tmp; 0 if none can be mounted, so that nothing is writable.
      readable, writable: folders and files that stay accessible.
      syscall_filter: a BPF program, in hex.
      tasks, open_files: rlimits of the whole process; those on memory come with the submission. See `further_threads`.
      shared_tasks: replaces `tasks` if the kernel counts the tasks of all forks together.
      tpu_filter: replaces `syscall_filter` in a process that compiles for TPUs. Empty if there is no TPU compiler.
      without: walls to leave out. Only tests of a wall set this, and the sandbox then does not claim that wall.
    """

    uid: int | None
    scratch_bytes: int
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    syscall_filter: str
    tasks: int
    open_files: int
    shared_tasks: int = 0
    without: tuple[str, ...] = ()
    tpu_filter: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Confinement":
        return cls(**json.loads(text))


def further_threads(devices: int) -> int:
    """How many threads a fork can have beyond `Confinement.tasks`.

    XLA starts two threads per device, and four since JAX 0.12. The threads of up to 64 devices, as problems have, fit
    into `tasks`.
    """
    return 4 * max(0, devices - 64)


class WallFault(Exception):
    """A wall could not be built; `wall` is its name."""

    def __init__(self, wall: str, error: OSError) -> None:
        super().__init__(str(error))
        self.wall = wall


def confine(confinement: Confinement) -> None:
    """Build every wall around this process. After a `WallFault` it must not continue."""
    steps: tuple[tuple[str, Callable[[Confinement], None]], ...] = (
        ("namespaces", _private_scratch),
        ("rlimits", _limit),
        ("namespaces", _give_up_privileges),
        ("landlock", _restrict_files),
        ("seccomp", _restrict_calls),
    )
    for wall, build in steps:
        try:
            if wall not in confinement.without:
                build(confinement)
        except OSError as error:
            raise WallFault(wall, error) from error


def _private_scratch(confinement: Confinement) -> None:
    if confinement.scratch_bytes:
        if _device(SCRATCH) != _device("/"):
            raise OSError("the scratch of another submission can be seen: mounts are not private")
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount_tmpfs(SCRATCH, confinement.scratch_bytes, SCRATCH_FILES)
        # Don't trust the result of the call: a sandbox around this one may answer it and do nothing.
        there = os.statvfs(SCRATCH)
        size_bytes = there.f_blocks * there.f_frsize
        if _device(SCRATCH) == _device("/") or (size_bytes, there.f_files) != (
            confinement.scratch_bytes,
            SCRATCH_FILES,
        ):
            raise OSError(
                f"the scratch was mounted, and what is there has {size_bytes} bytes and {there.f_files} files "
                f"instead of {confinement.scratch_bytes} and {SCRATCH_FILES}"
            )
        os.chdir(SCRATCH)


def _device(path: str) -> int:
    """The number of the file system that contains a path."""
    return os.stat(path).st_dev


def _limit(confinement: Confinement) -> None:
    tasks = confinement.tasks
    if confinement.uid is None and not _become_counted_alone():
        tasks = confinement.shared_tasks
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, _CPU_S),
        (resource.RLIMIT_FSIZE, confinement.scratch_bytes),
        (resource.RLIMIT_NOFILE, confinement.open_files),
        (resource.RLIMIT_NPROC, tasks),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def _become_counted_alone() -> bool:
    """Enter a user namespace, in which the kernel counts the user's tasks separately.

    The rights in it are given up with all others. Return False if it is not permitted, as in most containers.
    """
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
    except OSError:
        return False
    return True


def limit_memory(data_bytes: int, address_bytes: int) -> None:
    """Limit the process's data and address space, in bytes, for one submission."""
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))
    resource.setrlimit(resource.RLIMIT_AS, (address_bytes, address_bytes))


def _give_up_privileges(confinement: Confinement) -> None:
    uid = confinement.uid
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.forbid_tracing()
    kernel.die_with_parent(signal.SIGKILL)
    if 0 in os.getresuid() or 0 in os.getresgid():
        raise PermissionError("still root after giving up root")
    attempts: tuple[tuple[str, Callable[[], object]], ...] = (
        ("make a mount namespace", lambda: kernel.unshare(kernel.CLONE_NEWNS)),
        ("become root", lambda: os.setresuid(0, 0, 0)),
        ("join root's group", lambda: os.setresgid(0, 0, 0)),
    )
    for what, attempt in attempts:
        try:
            attempt()
        except OSError:
            continue
        raise PermissionError(f"privileges were given up, and it can still {what}")


def _restrict_files(confinement: Confinement) -> None:
    scratch = SCRATCH if confinement.scratch_bytes else None
    landlock.restrict(list(confinement.readable), list(confinement.writable), scratch)


def _restrict_calls(confinement: Confinement) -> None:
    futexes.make_private()
    kernel.install_filter(_with_own_pid(bytes.fromhex(confinement.syscall_filter)))


def _with_own_pid(program: bytes) -> bytes:
    """Replace `OWN_PID` in a filter. An instruction has 8 bytes; the last four are its operand."""
    old, new = struct.pack("=I", OWN_PID), struct.pack("=I", os.getpid())
    steps = [program[at : at + 8] for at in range(0, len(program), 8)]
    return b"".join(step[:4] + new if step[4:] == old else step for step in steps)
