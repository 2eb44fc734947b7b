"""Keep verifiers and reuse them: each compiles and runs one program after another, for one grading at a time.

Starting a verifier takes a fork, a backend and a first compilation, half a second in total. A reused verifier runs only
programs whose operations XLA checks. A program that calls native kernels gets its own verifier, and any answer but
success ends the verifier (docs/decisions/0003-verifiers-that-live-on.md).
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from grader.core.context import Stop
from grader.core.errors import SubmissionFault
from grader.core.wire import Frame, Message, Values
from grader.package.package import Limits
from grader.sandbox.priority import giving_way
from grader.sandbox.protocol import RunnerSpec, Session
from grader.sandbox.session import ForkSession
from grader.sandbox.session_wrapper import SessionWrapper
from grader.sandbox.usage import usage_of

_MEMORY_MB = 8192
# Replace a verifier after this many programs, because its compiler keeps some memory for each.
_MAX_PROGRAMS = 200
_MAX_RESTING_BYTES = 768 << 20
Take = Callable[[RunnerSpec, Stop], ForkSession]


class Verifiers:
    """Lends verifiers, and keeps up to `keep` idle ones per number of devices. Threads may share one; close it once."""

    def __init__(self, take: Take, keep: int) -> None:
        self._take = take
        self._keep = keep
        self._idle: dict[int, list[tuple[ForkSession, int]]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(
        self, devices: int, limits: Limits, stop: Stop, *, alone: bool = False, background: bool = False
    ) -> Iterator[Session]:
        """Lend a verifier, with time and memory counted from now on.

        Args:
          alone: lend a new verifier, and end it afterwards.
          background: run it at the lowest priority until it is given back.
        Raises:
          WallMissing, GraderFault: no verifier could be started.
          Cancelled: `stop` was set.
        """
        idle = None if alone else self._idle_one(devices)
        session, served = idle or (self._new(devices, limits, stop, background), 0)
        loan = _Loan(session)
        good = False
        try:
            session.charge(limits, stop)
            with giving_way(session.pid) if background else nullcontext():
                yield loan
            good = True
        except SubmissionFault:
            # The judge found the fault in the verifier's answer, so the verifier itself is unharmed.
            good = True
            raise
        finally:
            self._give_back(devices, session, served + 1, good and loan.unharmed and not alone)

    def pids(self) -> tuple[int, ...]:
        """The processes of the idle verifiers."""
        with self._lock:
            return tuple(session.pid for sessions in self._idle.values() for session, _ in sessions if session.alive)

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self.release()

    def release(self) -> None:
        """End all idle verifiers. The next program gets a new one."""
        with self._lock:
            idle = [session for sessions in self._idle.values() for session, _ in sessions]
            self._idle.clear()
        for session in idle:
            session.close()

    def _idle_one(self, devices: int) -> tuple[ForkSession, int] | None:
        with self._lock:
            idle = self._idle.get(devices, [])
            while idle:
                session, served = idle.pop()
                if session.alive:
                    return session, served
                session.close()
        return None

    def _new(self, devices: int, limits: Limits, stop: Stop, background: bool) -> ForkSession:
        limits = limits.model_copy(update={"memory_mb": _MEMORY_MB})
        return self._take(RunnerSpec(devices, limits, None, "verify", background=background), stop)

    def _give_back(self, devices: int, session: ForkSession, served: int, good: bool) -> None:
        rested = good and session.alive and usage_of(session.pid).resident_bytes < _MAX_RESTING_BYTES
        with self._lock:
            idle = self._idle.setdefault(devices, [])
            if rested and served < _MAX_PROGRAMS and len(idle) < self._keep and not self._closed:
                idle.append((session, served))
                return
        session.close()


class _Loan(SessionWrapper):
    """A lent verifier, which the lender ends or keeps. It is `unharmed` as long as every request succeeds."""

    def __init__(self, session: ForkSession) -> None:
        super().__init__(session)
        self.unharmed = True

    def request(self, message: Message, values: Values | None = None) -> Frame:
        unharmed, self.unharmed = self.unharmed, False
        reply = self._session.request(message, values)
        self.unharmed = unharmed
        return reply
