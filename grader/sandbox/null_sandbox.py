"""A sandbox that executes nothing, so no setting can make it unsafe."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from grader.core.context import NEVER, Stop
from grader.core.wire import Frame, Message, Values
from grader.package.package import Limits
from grader.sandbox.protocol import Output, Requests, RunnerSpec
from grader.verdicts.package_study import Spent

_NOTHING = Output(stdout="", stderr="", truncated=False)
Answer = Callable[[Message, Values], Frame]


class NullSession(Requests):
    """A session that answers each request by calling `answer`."""

    def __init__(self, answer: Answer, output: Output) -> None:
        self._answer = answer
        self._output = output
        self.sealed = False
        self.alive = True
        self.environment: Message = {"devices": 8}
        self.spent = Spent(0.0, 0.0, 0)

    def request(self, message: Message, values: Values | None = None) -> Frame:
        return self._answer(message, values or {})

    def forgive(self, seconds: float) -> None:
        return None

    def seal_output(self) -> None:
        self.sealed = True

    def output(self) -> Output:
        return self._output

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class NullSandbox:
    """A `Sandbox` for tests of the code that uses one. It has no walls, so the service refuses to start with it."""

    walls: tuple[str, ...] = ()

    def __init__(self, answer: Answer, output: Output = _NOTHING) -> None:
        self._answer = answer
        self._output = output

    def warm(self, spec: RunnerSpec) -> None:
        return None

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> NullSession:
        return NullSession(self._answer, self._output)

    @contextmanager
    def verifier(self, devices: int, limits: Limits, stop: Stop = NEVER, **options: bool) -> Iterator[NullSession]:
        yield NullSession(self._answer, self._output)
