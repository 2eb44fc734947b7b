"""The share of a busy machine that a process gets."""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOWEST = 19
# A third of the default weight: the kernel's weights of niceness 5 and 0 are 335 and 1,024.
NICENESS = 5
_NO_PRIORITY = os.sched_param(0)
# Source: https://man7.org/linux/man-pages/man7/capabilities.7.html, numbers in linux/capability.h
_CAP_SYS_NICE = 23


def lower_session(pid: int) -> None:
    """Give the session of this process, with all that it starts in it, less of a busy machine than others have.

    Where the kernel groups processes by session, niceness only counts within a session. Without this, the sandbox would
    get as much as the service, whose one thread answers everybody.

    Source: https://man7.org/linux/man-pages/man7/sched.7.html, "The autogroup feature"
    """
    # The file is missing if the kernel does not group. It refuses a second change within a tenth of a second.
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS), encoding="ascii")


def lower(pid: int) -> None:
    """Give the process little more than the CPU time that nothing else uses, from now on."""
    _for_each_thread(pid, lambda thread: os.setpriority(os.PRIO_PROCESS, thread, _LOWEST))


@contextmanager
def giving_way(pid: int) -> Iterator[None]:
    """Inside the block, give the process only the CPU time that nothing else uses; then restore its share.

    Without CAP_SYS_NICE the share could not be restored, so it stays as it is.
    """
    if not may_raise():
        yield
        return
    _for_each_thread(pid, lambda thread: os.sched_setscheduler(thread, os.SCHED_IDLE, _NO_PRIORITY))
    try:
        yield
    finally:
        _for_each_thread(pid, lambda thread: os.sched_setscheduler(thread, os.SCHED_OTHER, _NO_PRIORITY))


@functools.cache
def may_raise() -> bool:
    """Whether this process can raise another's priority. Root can, unless its container drops the capability."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _CAP_SYS_NICE & 1)


def _for_each_thread(pid: int, act: Callable[[int], None]) -> None:
    with suppress(FileNotFoundError):
        for task in os.scandir(f"/proc/{pid}/task"):
            with suppress(ProcessLookupError):
                act(int(task.name))
