"""Control the zygote from outside: start it behind its walls, request forks, and learn how they ended."""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.confined.confine import further_threads
from grader.core.errors import GraderFault, LostRunner, WallMissing
from grader.sandbox.priority import lower_session
from grader.sandbox.remedies import TO_FIX_IT
from grader.sandbox.usage import descendants
from grader.sandbox.users import Users
from grader.sandbox.walls import remedy_for

START_LIMIT_S = 120.0
_KEEPER = Path(__file__).with_name("process_keeper.py")
_FORK_LIMIT_S = 30.0
_CLOSE_LIMIT_S = 5.0
_MAX_REPORT = 4096


@dataclass(slots=True)
class Fork:
    """One process made by the zygote, and our ends of its descriptors.

    Attributes:
      ended: set when it is gone. `status` is then its exit code, negative for a signal; None if the zygote ended, too,
        so that the status is unknown.
      killed: whether we ended it.
      uid: a user that no other fork has; None if the service is not root.
      further_threads: how many more threads it may have because of its devices.
    """

    id: int
    channel: socket.socket
    stdout: int
    stderr: int
    uid: int | None = None
    further_threads: int = 0
    handle: int = -1
    pid: int = -1
    status: int | None = None
    killed: bool = False
    made: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def kill(self) -> None:
        """Kill it by its handle, which cannot hit another process that got its number."""
        self.killed = True
        if not self.ended.is_set() and self.handle >= 0:
            try:
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            except ProcessLookupError:
                return

    def close(self) -> None:
        """Kill it and release its resources. Safe to call twice."""
        self.kill()
        self.channel.close()
        for descriptor in (self.stdout, self.stderr, self.handle):
            if descriptor >= 0:
                os.close(descriptor)
        self.stdout = self.stderr = self.handle = -1


class Zygote:
    """One zygote process. Threads may request forks at the same time. Once it has died, `alive` stays False.

    Args:
      command: starts it; the number of the control descriptor and `confinement` are appended.
      confinement: `Confinement` as JSON.
    """

    def __init__(self, command: list[str], confinement: str) -> None:
        self._command = command
        self._confinement = confinement
        self._control, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Only this process has the writing end: however it ends, the keeper then ends the rest.
        reading, writing = os.pipe()
        self._their_lifeline, self._lifeline = os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0)
        self._forks: dict[int, Fork] = {}
        self._ids = itertools.count(1)
        self._users = Users() if os.geteuid() == 0 else None
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._gone = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = ""
        self._deaf = False
        self.forks_cpu_s = 0.0

    @property
    def alive(self) -> bool:
        return self._ready.is_set() and not self._gone.is_set() and not self._deaf

    def start(self, *, imports: bool = True) -> None:
        """Start it and wait until it is ready. A probe of the walls needs no `imports`.

        Raises:
          WallMissing: bubblewrap could not build its walls.
          GraderFault: it did not start, did not start in time, or started a thread.
        """
        options = [] if imports else ["--bare"]
        threading.Thread(target=self._keep, args=(options,), name="zygote", daemon=True).start()
        deadline = time.monotonic() + START_LIMIT_S
        while not self._ready.wait(0.05):
            if self._gone.is_set():
                raise self._not_started()
            if time.monotonic() > deadline:
                self.close()
                raise GraderFault(f"the zygote was not ready after {START_LIMIT_S:.0f} s")
        if threads_of(self.pid) != 1:
            self.close()
            raise GraderFault("the zygote started a thread, so it cannot be forked")
        lower_session(self.pid)

    @property
    def root(self) -> int:
        """The process number of the keeper, the ancestor of bwrap's processes, if any, and of the zygote."""
        assert self._process is not None
        return self._process.pid

    @property
    def pid(self) -> int:
        """The process number of the zygote itself, a descendant of the keeper and of bwrap's processes."""
        assert self._process is not None
        return descendants(self._process.pid)[: 4 if self._command[0].endswith("bwrap") else 2][-1]

    def fork(self, order: dict[str, Any]) -> Fork:
        """Fork a process that follows `order`. Its frames arrive on `channel`.

        Raises:
          LostRunner: the zygote is gone or does not respond.
          GraderFault: all sandbox users are in use.
        """
        uid = self._users.take() if self._users is not None else None
        ours, theirs = socket.socketpair()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        fork = Fork(next(self._ids), ours, out, err, uid, further_threads(order["devices"]))
        message = json.dumps({**order, "id": fork.id, "uid": uid}).encode()
        try:
            with self._lock:
                self._forks[fork.id] = fork
                socket.send_fds(self._control, [message], [theirs.fileno(), out_end, err_end])
        except OSError as error:
            # The listening thread does not know yet, so let no other thread send a request.
            self._deaf = True
            fork.close()
            raise LostRunner(f"the zygote is gone: {error}") from error
        finally:
            theirs.close()
            os.close(out_end)
            os.close(err_end)
        if not fork.made.wait(_FORK_LIMIT_S) or fork.handle < 0:
            fork.close()
            raise LostRunner("the zygote did not make a fork")
        return fork

    def close(self) -> None:
        """End it and all of its forks."""
        self._lifeline.close()
        if not self._gone.wait(_CLOSE_LIMIT_S) and self._process is not None:
            # The keeper is stuck. Once it is killed, the parent-death signal ends bwrap and the forks.
            self._process.kill()

    def _keep(self, options: list[str]) -> None:
        """Start the process and listen to it until it ends."""
        try:
            with self._theirs, self._their_lifeline:
                lifeline = self._their_lifeline.fileno()
                keeper = [sys.executable, "-I", "-S", "-B", str(_KEEPER), str(lifeline)]
                self._process = subprocess.Popen(
                    [*keeper, *self._command, str(self._theirs.fileno()), self._confinement, *options],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=[self._theirs.fileno(), lifeline],
                    start_new_session=True,
                    env={},
                )
            while self._listen():
                pass
            self._lifeline.close()
            assert self._process.stderr is not None
            with self._process.stderr as stderr:
                self._stderr = stderr.read(4096).decode(errors="replace").strip()
            self._process.wait()
        except OSError as error:
            self._stderr = str(error)
        finally:
            self._control.close()
            self._lifeline.close()
            self._gone.set()
            with self._lock:
                lost = list(self._forks.values())
                self._forks.clear()
            if self._users is not None:
                self._users.close()
            for fork in lost:
                fork.ended.set()
                fork.made.set()

    def _listen(self) -> bool:
        try:
            text, handles, _, _ = socket.recv_fds(self._control, _MAX_REPORT, 1)
        except OSError:
            return False
        if not text:
            return False
        report = json.loads(text)
        if report.get("ready"):
            self._ready.set()
        elif "forked" in report:
            self._forked(report["forked"], handles[0])
        else:
            self._ended(report)
        return True

    def _forked(self, number: int, handle: int) -> None:
        fork = self._forks.get(number)
        if fork is None:
            os.close(handle)
            return
        fork.handle, fork.pid = handle, _pid_of(handle)
        fork.made.set()

    def _ended(self, report: dict[str, Any]) -> None:
        self.forks_cpu_s += report["cpu_s"]
        with self._lock:
            fork = self._forks.pop(report["ended"], None)
        if fork is not None:
            if self._users is not None and fork.uid is not None:
                self._users.give_back(fork.uid)
            fork.status = report["status"]
            fork.ended.set()
            fork.made.set()

    def _not_started(self) -> GraderFault:
        if self._stderr.startswith("bwrap:"):
            return WallMissing("namespaces", self._stderr, remedy_for(self._stderr))
        return GraderFault(f"the zygote did not start: {self._stderr}{TO_FIX_IT}{remedy_for(self._stderr)}")


def threads_of(pid: int) -> int:
    """The number of threads of a process; 0 if it does not exist."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    return int(status.partition("Threads:")[2].split()[0])


def _pid_of(handle: int) -> int:
    """The number of a handle's process in this namespace; -1 if it has already ended."""
    text = Path(f"/proc/self/fdinfo/{handle}").read_text()
    return int(text.partition("Pid:")[2].split()[0])
