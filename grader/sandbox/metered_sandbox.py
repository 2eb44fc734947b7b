"""A sandbox for one grading that records what each verifier used."""

from collections.abc import Iterator
from contextlib import contextmanager

from grader.core.context import NEVER, Stop
from grader.package.package import Limits
from grader.sandbox.protocol import RunnerSpec, Sandbox, Session
from grader.verdicts.package_study import Spent


class MeteredSandbox:
    """A `Sandbox` whose `spent` has one entry for each verifier that was lent."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.spent: list[Spent] = []

    @property
    def walls(self) -> tuple[str, ...]:
        return self._sandbox.walls

    def warm(self, spec: RunnerSpec) -> None:
        self._sandbox.warm(spec)

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> Session:
        """See `Sandbox.open`. `Session.spent` says what the runner used."""
        return self._sandbox.open(spec, stop)

    @contextmanager
    def verifier(self, devices: int, limits: Limits, stop: Stop = NEVER, **options: bool) -> Iterator[Session]:
        """See `Sandbox.verifier`. What is known uses nothing, so all of it is done again."""
        with self._sandbox.verifier(devices, limits, stop, **options, fresh=True) as session:
            try:
                yield session
            finally:
                self.spent.append(session.spent)
