"""Keep verifiers and reuse them: each compiles and runs one program after another, for one grading at a time.

Starting a verifier takes a fork, a backend and a first compilation, half a second in total. A reused verifier runs only
programs whose operations XLA checks. A program that calls native kernels gets its own verifier, and any answer but
success ends the verifier (docs/decisions/0003-verifiers-that-live-on.md).
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Self

from grader.core.code_digest import grader_code
from grader.core.context import Stop
from grader.core.errors import Cancelled, SubmissionFault
from grader.core.wire import Frame, Message, Values
from grader.package.package import Limits
from grader.sandbox.known_programs import KnownPrograms, digest_of
from grader.sandbox.priority import giving_way
from grader.sandbox.protocol import Output, Requests, RunnerSpec, Session
from grader.sandbox.session import ForkSession
from grader.sandbox.usage import usage_of
from grader.verdicts.package_study import Spent

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
        self._known = KnownPrograms()
        self._idle: dict[int, list[tuple[ForkSession, int]]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(
        self,
        devices: int,
        limits: Limits,
        stop: Stop,
        *,
        alone: bool = False,
        background: bool = False,
        fresh: bool = False,
    ) -> Iterator[Session]:
        """Lend a verifier. It is taken at the first request whose answer is not known; time and memory count from then.

        Args:
          alone: lend a new verifier, and end it afterwards.
          background: run it at the lowest priority until it is given back.
          fresh: compile and run everything, even what is known.
        Raises:
          WallMissing, GraderFault: no verifier could be started, from the first request.
          Cancelled: `stop` was set, from a request.
        """
        with ExitStack() as returning:

            def take() -> ForkSession:
                idle = None if alone else self._idle_one(devices)
                session, served = idle or (self._new(devices, limits, stop, background), 0)
                returning.callback(lambda: self._give_back(devices, session, served + 1, loan.is_good and not alone))
                session.charge(limits, stop)
                if background:
                    returning.enter_context(giving_way(session.pid))
                return session

            loan = _Loan(take, stop, None if alone or fresh else self._known, _digest_of(devices, limits), limits)
            if alone or fresh:
                loan.begin()
            try:
                yield loan
            except SubmissionFault:
                # The judge found the fault in the verifier's answer, so the verifier itself is unharmed.
                raise
            except BaseException:
                loan.is_good = False
                raise

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


class _Loan(Requests):
    """A lent verifier, which the lender ends or keeps. It `is_good` as long as every request succeeds.

    Args:
      known: None if nothing is looked up or remembered.
      digest: of everything that decides an answer, besides the requests.
    """

    def __init__(
        self, take: Callable[[], ForkSession], stop: Stop, known: KnownPrograms | None, digest: bytes, limits: Limits
    ) -> None:
        self._take = take
        self._stop = stop
        self._known = known
        self._most_bytes = limits.output_mb << 20
        self._session: ForkSession | None = None
        self.is_good = True
        # What all requests depend on, and the program that was compiled last: its digest, its request, and whether the
        # verifier has it.
        self._first = self._program = digest
        self._compile: tuple[Message, Values] = ({}, {})
        self._is_compiled = False

    def request(self, message: Message, values: Values | None = None) -> Frame:
        """Answer with what is known, or else ask the verifier. See `Session`."""
        if self._stop.is_set():
            raise Cancelled("grading was stopped")
        values, is_program = values or {}, message["op"] == "compile"
        if self._known is None:
            return self._send(message, values)
        digest = digest_of(self._first if is_program else self._program, message, values)
        if is_program:
            self._program, self._compile, self._is_compiled = digest, (message, values), False
        if (answer := self._known.find(digest, most_bytes=self._most_bytes)) is not None:
            return answer
        if not is_program and not self._is_compiled:
            self._send(*self._compile)
        answer = self._send(message, values)
        self._is_compiled = True
        self._known.remember(digest, *answer)
        return answer

    def begin(self) -> ForkSession:
        """Take the verifier, if that has not been done. Raises the errors of `Verifiers.lend`."""
        if self._session is None:
            self._session = self._take()
        return self._session

    def _send(self, message: Message, values: Values) -> Frame:
        session = self.begin()
        was_good, self.is_good = self.is_good, False
        answer = session.request(message, values)
        self.is_good = was_good
        return answer

    def forgive(self, seconds: float) -> None:
        if self._session is not None:
            self._session.forgive(seconds)

    @property
    def alive(self) -> bool:
        return self._session is None or self._session.alive

    @property
    def environment(self) -> Message:
        return {} if self._session is None else self._session.environment

    @property
    def spent(self) -> Spent:
        return Spent(0.0, 0.0, 0) if self._session is None else self._session.spent

    def seal_output(self) -> None:
        if self._session is not None:
            self._session.seal_output()

    def output(self) -> Output:
        return Output("", "", truncated=False) if self._session is None else self._session.output()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


def _digest_of(devices: int, limits: Limits) -> bytes:
    """A digest of what every answer depends on. How much may be returned is compared with each answer instead."""
    decides = {"grader": grader_code(), "devices": devices, "limits": limits.model_dump(exclude={"output_mb"})}
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).digest()
