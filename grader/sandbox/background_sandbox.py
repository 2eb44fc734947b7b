"""A sandbox for background work: it runs at the lowest priority, and pauses while a submission is graded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Self

from grader.core.context import NEVER, Stop
from grader.core.errors import Cancelled
from grader.core.wire import Frame, Message, Values
from grader.package.package import Limits
from grader.sandbox.background_gate import BackgroundGate
from grader.sandbox.protocol import RunnerSpec, Sandbox, Session
from grader.sandbox.session_wrapper import SessionWrapper


class BackgroundSandbox:
    """A `Sandbox` for one piece of work. Before each request, it waits until nothing is being graded.

    Args:
      stop: ends the work. A caller that needs the result at once sets it and does the work in the foreground.
    """

    def __init__(self, sandbox: Sandbox, idle: BackgroundGate, stop: Stop) -> None:
        self._sandbox = sandbox
        self._idle = idle
        self._stop = stop

    @property
    def walls(self) -> tuple[str, ...]:
        return self._sandbox.walls

    def warm(self, spec: RunnerSpec) -> None:
        self._sandbox.warm(spec)

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> Session:
        """See `Sandbox.open`. The constructor's `stop` is used instead of this one."""
        _wait(self._idle, self._stop)
        return _Patient(self._sandbox.open(replace(spec, background=True), self._stop), self._idle, self._stop)

    @contextmanager
    def verifier(self, devices: int, limits: Limits, stop: Stop = NEVER, **options: bool) -> Iterator[Session]:
        """See `Sandbox.verifier`."""
        _wait(self._idle, self._stop)
        with self._sandbox.verifier(devices, limits, self._stop, background=True, **options) as session:
            yield _Patient(session, self._idle, self._stop)


class _Patient(SessionWrapper):
    """A session whose requests wait until nothing is graded. The wait does not count towards its wall clock."""

    def __init__(self, session: Session, idle: BackgroundGate, stop: Stop) -> None:
        super().__init__(session)
        self._idle = idle
        self._stop = stop

    def request(self, message: Message, values: Values | None = None) -> Frame:
        self._session.forgive(_wait(self._idle, self._stop))
        return self._session.request(message, values)

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._session.__exit__(*error)


def _wait(idle: BackgroundGate, stop: Stop) -> float:
    """Wait until nothing is being graded, and return the seconds. Raises Cancelled once `stop` is set."""
    waited_s = idle.wait(stop)
    if stop.is_set():
        raise Cancelled("background work was stopped")
    return waited_s
