"""Run a program, and kill it and all of its descendants as soon as the process that requested it is gone.

Usage: `python -I -S -B process_keeper.py LIFELINE_FD COMMAND…`. Only the requesting process holds the other end of the
lifeline, so the kernel closes it when that process ends. A parent-death signal is not enough: a program arms it only
after it has started, and bubblewrap's child first waits for its parent, forever if the parent is killed at that moment.
Orphans become children of this process, so it finds all descendants.

It imports none of our modules, so it starts within a few milliseconds.
"""

import ctypes
import os
import select
import signal
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_AGAIN_S = 0.005


def main() -> int:
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "the kernel does not let this process take in orphans")
    wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, _ignore)
    child = os.posix_spawn(command[0], command, {})
    # Close every inherited descriptor: the sandbox notices by closed pipes that its processes are gone.
    for descriptor in _open_descriptors():
        if descriptor > 2 and descriptor not in (lifeline, wake, waker):
            os.close(descriptor)
    status = None
    while status is None:
        ready, _, _ = select.select([lifeline, wake], [], [])
        if lifeline in ready:
            status = 0
        elif wake in ready:
            os.read(wake, 512)
            status = _reap(child)
    _end_all()
    return status


def _reap(child: int) -> int | None:
    """Reap the processes that have ended. Return the exit status of `child` if it is among them."""
    found = None
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return found
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                found = 128 - code if code < 0 else code
    except ChildProcessError:
        return found


def _end_all() -> None:
    """Kill all children, and the orphans that this creates, until none is left."""
    while True:
        for pid in _children():
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                # It has ended, or still belongs to another user; the next round tries again.
                continue
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(_AGAIN_S)
        except ChildProcessError:
            return


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split()]


def _open_descriptors() -> list[int]:
    # The list includes the descriptor of the folder itself, which is closed by now.
    found = [int(name) for name in os.listdir("/proc/self/fd")]
    return [descriptor for descriptor in found if _is_open(descriptor)]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _ignore(number: int, frame: object) -> None:
    """Do nothing: the wakeup descriptor reports a signal only if it has a handler."""


if __name__ == "__main__":
    sys.exit(main())
