"""The walls that a process can only build around itself, before the first submitted instruction."""

import json
import os
import resource
import signal
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass

from grader.runner import futexes, kernel, landlock

SCRATCH = "/tmp"
SCRATCH_FILES = 4096
# Only for a process that is no longer watched: the clock that decides is outside.
_CPU_S = 3600
# A placeholder in the filter for the process's own number, which only the process itself knows.
OWN_PID = 0x7ABCDEF1


@dataclass(frozen=True, slots=True)
class Confinement:
    """The walls that a fork builds around itself, as the sandbox orders its zygote.

    Args:
      uid: the user to become; None if there is no root to give up.
      scratch_bytes: size of the private file system on /tmp; 0 if none can be mounted, and then nothing is writable.
      readable, writable: folders and files that stay so.
      syscall_filter: BPF program, in hex.
      tasks, open_files: rlimits for the whole life; those on memory come with the submission. See `further_threads`.
      shared_tasks: instead of `tasks`, where the kernel counts the tasks of all forks together.
      tpu_filter: instead of `syscall_filter`, for a process that compiles for TPUs. Empty if no such compiler is there.
      without: walls to leave out. Only tests that prove a wall set it, and the sandbox then does not claim that wall.
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
    """How many threads a fork may have beyond `Confinement.tasks`.

    XLA starts two for each device, and four from JAX 0.12. Those of 64 devices fit into what every fork may have, so
    nothing is added for any problem's meshes.
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
        # The kernel's answer is not enough: a sandbox around this one may answer instead, and do nothing.
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
    """The file system that contains a path."""
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
    """Enter a user namespace, because the kernel counts the tasks of a user in each of them.

    Its rights in there are given up with all others. Returns False if it may not have one, as in most containers.
    """
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
    except OSError:
        return False
    return True


def limit_memory(data_bytes: int, address_bytes: int) -> None:
    """Limit the data and the address space of the process for one submission."""
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
    """Each instruction is 8 bytes, the last four its operand."""
    old, new = struct.pack("=I", OWN_PID), struct.pack("=I", os.getpid())
    steps = [program[at : at + 8] for at in range(0, len(program), 8)]
    return b"".join(step[:4] + new if step[4:] == old else step for step in steps)
