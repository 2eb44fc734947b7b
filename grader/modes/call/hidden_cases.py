"""Draw each attempt's own hidden cases, in call mode.

The inputs are drawn from the deployment's secret and the attempt's name, and the reference answers them in a runner
that never runs submissions. So a submission that leaks its inputs reveals nothing about another attempt's. The same
name gives the same inputs, so that an attempt can be graded again.
"""

import hashlib
import hmac
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from grader.checks.call_outcome import Answer
from grader.core.case import Case
from grader.core.context import Stop
from grader.core.errors import Cancelled, GraderFault, LostRunner, SubmissionFault
from grader.modes.call.call_arguments import call_case, wrong_arguments
from grader.modes.package_code import runner_spec
from grader.package.package import CallManifest, Package
from grader.sandbox.protocol import Sandbox, Session

# A runner ends after this many requests, or after this long without one, because it takes 200 MB.
_USES = 128
_IDLE_S = 30.0
_LOOK_S = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HiddenCases:
    """The hidden cases of one attempt, while they are being made.

    `cases` waits for the inputs and starts the reference on them; `answers` waits for its answers, by case id. Both
    raise GraderFault if the package's own code fails, and Cancelled.
    """

    cases: Callable[[], tuple[Case, ...]]
    answers: Callable[[], dict[str, Answer]]


class HiddenCaseDraws:
    """Draws hidden cases. Threads may share one. It keeps runners for a while, for the next attempts."""

    def __init__(self, sandbox: Sandbox, secret: bytes) -> None:
        self._sandbox = sandbox
        self._secret = secret
        self._idle: dict[str, list[_Runner]] = {}
        self._guard = threading.Lock()
        self._timer: threading.Timer | None = None
        self._threads = ThreadPoolExecutor(thread_name_prefix="draw")

    def begin(
        self, package: Package, manifest: CallManifest, name: str, like: Sequence[Case], stop: Stop
    ) -> HiddenCases:
        """Start drawing the inputs of the attempt `name`. Returns at once.

        Args:
          like: the prepared hidden cases, whose form the new ones must have.
        """
        making = self._threads.submit(self._cases, package, manifest, name, like)
        answering: list[Future[dict[str, Answer]]] = []

        def cases() -> tuple[Case, ...]:
            made = _wait(making, stop)
            if not answering:
                answering.append(self._threads.submit(self._answers, package, manifest, made))
            return made

        def answers() -> dict[str, Answer]:
            cases()
            return _wait(answering[0], stop)

        return HiddenCases(cases, answers)

    def let_go(self) -> None:
        """End all idle runners."""
        with self._guard:
            idle = [each for kept in self._idle.values() for each in kept]
            self._idle.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for each in idle:
            each.opened.close()

    def _key(self, package: Package, name: str) -> str:
        text = f"meshgrade hidden cases of one attempt\n{package.slug}\n{package.identity}\n{name}"
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def _cases(self, package: Package, manifest: CallManifest, name: str, like: Sequence[Case]) -> tuple[Case, ...]:
        def ask(session: Session) -> object:
            session.load(package.cases, "hidden_cases", modules=package.helpers)
            return session.cases(self._key(package, name))

        made = self._ask(package, "cases.py", ask)
        inputs = [each for each in made if isinstance(each, dict)] if isinstance(made, list) else []
        if [_form(each) for each in inputs] != [_form(case.inputs) for case in like]:
            raise GraderFault(
                f"{package.slug}: hidden_cases in cases.py must make cases of the same number, arguments, shapes and "
                "dtypes whatever it draws"
            )
        cases = tuple(Case(case.id, False, each) for case, each in zip(like, inputs, strict=True))
        if faults := wrong_arguments(manifest, cases):
            raise GraderFault(f"{package.slug}: {'; '.join(faults)}")
        return cases

    def _answers(self, package: Package, manifest: CallManifest, cases: Sequence[Case]) -> dict[str, Answer]:
        def ask(session: Session) -> dict[str, Answer]:
            session.load(package.reference, package.manifest.entry, modules=package.helpers)
            return {case.id: call_case(session, manifest, case) for case in cases}

        return self._ask(package, "reference.py", ask)

    def _ask(self, package: Package, what: str, ask: Callable[[Session], T]) -> T:
        """Call `ask` with a runner. If that runner is lost, call it again, because an idle one may have died."""

        def once() -> T:
            with self._lent(package) as session:
                return ask(session)

        try:
            try:
                return once()
            except LostRunner:
                return once()
        except SubmissionFault as fault:
            name = fault.detail.get("type", fault.reason)
            raise GraderFault(f"{package.slug}: {what} failed on one attempt's cases: {name}: {fault}") from None

    @contextmanager
    def _lent(self, package: Package) -> Iterator[Session]:
        """Lend a runner for the package's own code. Only one thread at a time uses it."""
        with self._guard:
            kept = self._idle.setdefault(package.identity, [])
            runner = kept.pop() if kept else None
        if runner is None:
            opened = ExitStack()
            # Don't pass the attempt's `stop`, because the runner outlives the attempt.
            session = opened.enter_context(self._sandbox.open(replace(runner_spec(package), share=_USES, own=True)))
            runner = _Runner(session, opened)
        try:
            yield runner.session
        except BaseException:
            runner.opened.close()
            raise
        runner.uses += 1
        if runner.uses >= _USES:
            runner.opened.close()
            return
        with self._guard:
            self._idle.setdefault(package.identity, []).append(runner)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_IDLE_S, self.let_go)
            self._timer.daemon = True
            self._timer.start()


@dataclass(slots=True)
class _Runner:
    """A runner, which closing `opened` ends. Only one thread at a time may use it."""

    session: Session
    opened: ExitStack
    uses: int = 0


def _form(inputs: dict[str, object]) -> list[tuple[object, ...]]:
    """The form for which warm programs and limits were prepared: names, types, shapes and dtypes."""
    return [
        (name, value.shape, value.dtype.name) if isinstance(value, np.ndarray) else (name, type(value))
        for name, value in inputs.items()
    ]


def _wait(made: Future[T], stop: Stop) -> T:
    while True:
        try:
            return made.result(_LOOK_S)
        except NotYet:
            # The work itself can also raise TimeoutError.
            if made.done():
                return made.result()
            if stop.is_set():
                raise Cancelled("grading was stopped") from None
