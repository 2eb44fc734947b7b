"""The seam between the judge and whatever runs submitted code."""

import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from grader.package.package import Limits


@dataclass(frozen=True, slots=True)
class Warmup:
    """A package's warmup.py: public code that compiles the operations of its shapes. `version` is the package's."""

    version: str
    source: str


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """What a runner must be like: `devices` is the number of host devices that JAX shows in it.

    A verifier is a runner that takes programs instead of submissions. `share` is how many submissions' time it has.
    """

    devices: int
    limits: Limits
    warmup: Warmup | None = None
    program: Literal["serve", "verify"] = "serve"
    background: bool = False
    own: bool = False
    share: int = 1


@dataclass(frozen=True, slots=True)
class Output:
    """What a runner printed, as text. `truncated` says that more was printed than is kept."""

    stdout: str
    stderr: str
    truncated: bool


class Session(Protocol):
    """One runner, for one submission. Used by one thread, closed once, by `with`.

    `request` raises SubmissionFault for what the submission did or failed to do in time, GraderFault for what is
    ours, Cancelled when the caller's event was set.
    """

    def request(
        self, message: dict[str, Any], values: dict[str, object] | None = None
    ) -> tuple[dict[str, Any], dict[str, object]]: ...

    def forgive(self, seconds: float) -> None:
        """Take time off its wall clock in which we had nothing to ask."""

    @property
    def environment(self) -> dict[str, Any]:
        """The configuration of JAX in the runner, which it reported before a submission was near it."""

    def seal_output(self) -> None:
        """Keep nothing of what is printed from now on: hidden inputs come next."""

    def output(self) -> Output: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class Sandbox(Protocol):
    """Makes sessions. `walls` names the layers that stand around each of them."""

    @property
    def walls(self) -> tuple[str, ...]: ...

    def warm(self, spec: RunnerSpec) -> None:
        """A submission for such a runner may come soon: have some ready. Returns at once."""

    def open(self, spec: RunnerSpec, stop: threading.Event | None = None) -> Session:
        """Start a runner and wait until JAX is up in it and nothing of a submission is.

        Raises:
          WallMissing, GraderFault: it could not be started.
          Cancelled: `stop` was set.
        """

    def verifier(
        self, devices: int, limits: Limits, stop: threading.Event | None = None, *, alone: bool = False
    ) -> AbstractContextManager[Session]:
        """Lend a verifier for one program, which is charged from now on. Raises as `open` does.

        Args:
          alone: one that has served nobody and will serve nobody else.
        """
