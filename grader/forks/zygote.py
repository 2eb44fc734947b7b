"""The zygote: it imports JAX once, then forks one process per submission. It never starts a backend or a thread.

A fork made after a backend has started deadlocks, because it lacks the backend's threads. So the zygote only imports,
and traces what fills caches without a device.

Usage: `python -I -B zygote.py CONTROL_FD CONFINEMENT_JSON [--bare]`. With `--bare`, it imports nothing, for a probe. On
the control descriptor (a Unix socket that preserves message boundaries) it receives `{"id", "uid", "devices"}` with
three descriptors, channel, stdout and stderr, and answers `{"forked": id}` with a descriptor of the new process. When a
process ends, it sends `{"ended": id, "status", "cpu_s"}`.
"""

import dataclasses
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path

# Isolated mode removes our own folder from the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.confined.confine import Confinement, WallFault, confine, further_threads
from grader.confined.request_loop import Fields
from grader.core import wire

_MAX_ORDER = 4096
# A niceness of 5 gives a third of the default weight. With less, other programs could delay a submission until its wall
# clock runs out.
_NICE = 5


def main() -> None:
    # Grading uses all cores. The service, which needs little CPU time, goes first.
    os.nice(_NICE)
    control = socket.socket(fileno=int(sys.argv[1]))
    confinement = Confinement.from_json(sys.argv[2])
    if "--bare" not in sys.argv:
        import_everything()
    del sys.argv[1:]
    wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, _ignore)
    # Objects that exist now live as long as the zygote. Exclude them from garbage collection, which would copy them in
    # each fork.
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    children: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), wake], [], [])
        if wake in ready:
            _drain(wake)
        _report_ended(control, children)
        if control.fileno() in ready and not _obey(control, confinement, children):
            return


def _obey(control: socket.socket, confinement: Confinement, children: dict[int, int]) -> bool:
    """Make one fork. Return False once the sandbox is gone."""
    text, descriptors, _, _ = socket.recv_fds(control, _MAX_ORDER, 3)
    if not text:
        return False
    order = json.loads(text)
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            control.close()
            _become_runner(order, _confinement_of(order, confinement), descriptors)
            code = 0
        except BaseException:  # a fork must not continue in the zygote's loop, and its error must be reported
            traceback.print_exc()
        finally:
            # A fork must never return into the zygote's loop.
            os._exit(code)
    children[pid] = order["id"]
    for descriptor in descriptors:
        os.close(descriptor)
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [json.dumps({"forked": order["id"]}).encode()], [handle])
    os.close(handle)
    return True


def _report_ended(control: socket.socket, children: dict[int, int]) -> None:
    while children:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if pid == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        message = {"ended": children.pop(pid), "status": code, "cpu_s": usage.ru_utime + usage.ru_stime}
        control.send(json.dumps(message).encode())


def _confinement_of(order: Fields, confinement: Confinement) -> Confinement:
    for_tpu = order["program"] == "tpu" and confinement.tpu_filter
    syscalls = confinement.tpu_filter if for_tpu else confinement.syscall_filter
    tasks = confinement.tasks + further_threads(order["devices"])
    return dataclasses.replace(confinement, uid=order["uid"], syscall_filter=syscalls, tasks=tasks)


def _become_runner(order: Fields, confinement: Confinement, descriptors: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    channel, stdout, stderr = descriptors
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.dup2(channel, 3)
    os.closerange(4, 256)
    os.environ["XLA_FLAGS"] += f" --xla_force_host_platform_device_count={order['devices']}"
    try:
        confine(confinement)
    except WallFault as fault:
        os.write(3, wire.pack({"ok": False, "wall": fault.wall, "found": str(fault)}))
        return
    if order["program"] == "probe":
        from grader.forks.probe import probe

        probe(3, order["targets"])
    elif order["program"] == "verify":
        from grader.verifier.serve import serve as verify

        verify(3, max_payload_bytes=order["max_payload_bytes"])
    elif order["program"] in ("tpu", "gpu"):
        from grader.verifier.chip import serve as compile_for_chip

        compile_for_chip(3, platform=order["program"], max_payload_bytes=order["max_payload_bytes"])
    else:
        from grader.runner.serve import serve

        serve(3, max_payload_bytes=order["max_payload_bytes"])


def import_everything() -> None:
    """Import everything that a runner needs, including what JAX imports only on first use."""
    from grader.forks import probe  # noqa: F401
    from grader.runner import serve, warm_up  # noqa: F401
    from grader.verifier import chip  # noqa: F401
    from grader.verifier import serve as verify  # noqa: F401

    warm_up.trace_common_operations()


def _drain(pipe: int) -> None:
    try:
        while os.read(pipe, 512):
            pass
    except BlockingIOError:
        return


def _ignore(number: int, frame: object) -> None:
    """Do nothing: the wakeup descriptor reports a signal only if it has a handler."""


if __name__ == "__main__":
    main()
