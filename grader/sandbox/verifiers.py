"""Verifiers that live on: each compiles and runs one program after the other, and is lent to one grading at a time.

Starting one costs a fork, a backend and a first compilation, half a second that no program has to wait for. What a
program did to its verifier ends with it: any limit that it goes over, and any sign of trouble, ends the verifier.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.errors import SubmissionFault
from grader.package.package import Limits
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.session import ForkSession
from grader.sandbox.usage import usage_of

_MEMORY_MB = 8192
# Compilers keep a little of everything that they have compiled.
_MAX_PROGRAMS = 200
_MAX_RESTING_BYTES = 768 << 20
Take = Callable[[RunnerSpec, threading.Event | None], ForkSession]


class Verifiers:
    """Keeps at most `keep` idle ones for each number of devices. Threads may share one; close it once."""

    def __init__(self, take: Take, keep: int) -> None:
        self._take = take
        self._keep = keep
        self._idle: dict[int, list[tuple[ForkSession, int]]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(self, devices: int, limits: Limits, stop: threading.Event | None) -> Iterator[ForkSession]:
        """Lend one, with time and memory counted from now on.

        Raises:
          WallMissing, GraderFault: none could be had.
          Cancelled: `stop` was set.
        """
        session, served = self._idle_one(devices) or (self._new(devices, limits, stop), 0)
        good = False
        try:
            session.charge(limits, stop)
            yield session
            good = True
        except SubmissionFault:
            # A program that was refused did no harm: then the verifier has answered, and is not killed.
            good = True
            raise
        finally:
            self._give_back(devices, session, served + 1, good)

    def pids(self) -> tuple[int, ...]:
        """The idle ones."""
        with self._lock:
            return tuple(session.pid for sessions in self._idle.values() for session, _ in sessions if session.alive)

    def close(self) -> None:
        with self._lock:
            self._closed = True
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

    def _new(self, devices: int, limits: Limits, stop: threading.Event | None) -> ForkSession:
        return self._take(
            RunnerSpec(devices, limits.model_copy(update={"memory_mb": _MEMORY_MB}), None, "verify"), stop
        )

    def _give_back(self, devices: int, session: ForkSession, served: int, good: bool) -> None:
        rested = good and session.alive and usage_of(session.pid).resident_bytes < _MAX_RESTING_BYTES
        with self._lock:
            idle = self._idle.setdefault(devices, [])
            if rested and served < _MAX_PROGRAMS and len(idle) < self._keep and not self._closed:
                idle.append((session, served))
                return
        session.close()
