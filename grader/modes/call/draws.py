"""Hidden cases that one attempt has for itself, in call mode.

Their inputs are drawn from the deployment's secret and the attempt's name, and the reference answers them in a runner
that no submission has been in. So whatever a submission finds a way to tell another one of its inputs, it tells nothing
of the next attempt's. The same name gives the same inputs, for an attempt that is graded again.
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

from grader.case import Case
from grader.checks.call.outcome import Answer
from grader.context import Stop
from grader.errors import Cancelled, GraderFault, LostRunner, SubmissionFault
from grader.modes.call.prepared import answer_of
from grader.modes.package_code import runner_spec
from grader.package.package import Package
from grader.sandbox.protocol import Sandbox, Session

# A runner serves so many requests, and is let go when nobody has asked for so long: it holds 200 MB.
_USES = 128
_IDLE_S = 30.0
_LOOK_S = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Drawing:
    """What one attempt has for itself, in the making.

    `cases` waits for the inputs and has the reference start on them, `answers` waits for its answers by case, and
    `results` runs another source of the package, giving what it returns by case where it does not raise.

    Raises, all three: GraderFault, where the package's own code fails; Cancelled.
    """

    cases: Callable[[], tuple[Case, ...]]
    answers: Callable[[], dict[str, Answer]]
    results: Callable[[str], dict[str, object]]


class Draws:
    """Any thread may ask. Runners are opened when they are needed, and kept for the next attempt for a while."""

    def __init__(self, sandbox: Sandbox, secret: bytes) -> None:
        self._sandbox = sandbox
        self._secret = secret
        self._idle: dict[str, list[_Runner]] = {}
        self._guard = threading.Lock()
        self._timer: threading.Timer | None = None
        self._threads = ThreadPoolExecutor(thread_name_prefix="draw")

    def begin(self, package: Package, name: str, like: Sequence[Case], stop: Stop) -> Drawing:
        """Start drawing the inputs of the attempt `name`. Returns at once.

        Args:
          like: the hidden cases that everybody's were prepared for; others must have their form.
        """
        making = self._threads.submit(self._cases, package, name, like)
        answering: list[Future[dict[str, Answer]]] = []

        def cases() -> tuple[Case, ...]:
            made = _wait(making, stop)
            if not answering:
                answering.append(self._threads.submit(self._answers, package, made))
            return made

        def answers() -> dict[str, Answer]:
            cases()
            return _wait(answering[0], stop)

        return Drawing(cases, answers, lambda source: self._results(package, source, cases()))

    def let_go(self) -> None:
        """End the runners that nobody uses now."""
        with self._guard:
            idle = [each for kept in self._idle.values() for each in kept]
            self._idle.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for each in idle:
            each.opened.close()

    def _key(self, package: Package, name: str) -> str:
        text = f"meshgrade hidden cases of one attempt\n{package.slug}\n{package.version}\n{name}"
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def _cases(self, package: Package, name: str, like: Sequence[Case]) -> tuple[Case, ...]:
        def ask(session: Session) -> object:
            session.load(package.cases, "hidden_cases")
            return session.cases(self._key(package, name))

        made = self._ask(package, "cases.py", ask)
        inputs = [each for each in made if isinstance(each, dict)] if isinstance(made, list) else []
        if [_form(each) for each in inputs] != [_form(case.inputs) for case in like]:
            raise GraderFault(
                f"{package.slug}: hidden_cases in cases.py must make cases of the same number, arguments, shapes and "
                "dtypes whatever it draws"
            )
        return tuple(Case(case.id, False, each) for case, each in zip(like, inputs, strict=True))

    def _answers(self, package: Package, cases: Sequence[Case]) -> dict[str, Answer]:
        def ask(session: Session) -> dict[str, Answer]:
            session.load(package.reference, package.manifest.entry)
            return {case.id: answer_of(session.call([*case.inputs.values()])) for case in cases}

        return self._ask(package, "reference.py", ask)

    def _results(self, package: Package, source: str, cases: Sequence[Case]) -> dict[str, object]:
        def ask(session: Session) -> dict[str, object]:
            session.load(source, package.manifest.entry)
            results: dict[str, object] = {}
            for case in cases:
                try:
                    results[case.id] = session.call([*case.inputs.values()]).get("result")
                except SubmissionFault as fault:
                    # It only helps to explain, so a limit that it meets on these inputs ends the comparison, no more.
                    if fault.reason != "error":
                        break
            return results

        # Not by a runner that answers for the reference later: this source may have changed what others see.
        return self._ask(package, "a known wrong submission", ask, alone=True)

    def _ask(self, package: Package, what: str, ask: Callable[[Session], T], *, alone: bool = False) -> T:
        """Once more where the runner is lost: one that waited for this may have died since."""

        def once() -> T:
            if alone:
                with self._sandbox.open(replace(runner_spec(package), own=True)) as session:
                    return ask(session)
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
        """One runner with the package's own code for each that asks at the same time."""
        with self._guard:
            kept = self._idle.setdefault(package.version, [])
            runner = kept.pop() if kept else None
        if runner is None:
            opened = ExitStack()
            # Without the attempt's event: the runner outlives the attempt.
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
            self._idle.setdefault(package.version, []).append(runner)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_IDLE_S, self.let_go)
            self._timer.daemon = True
            self._timer.start()


@dataclass(slots=True)
class _Runner:
    """Used by one thread at a time; `opened` closes it."""

    session: Session
    opened: ExitStack
    uses: int = 0


def _form(inputs: dict[str, object]) -> list[tuple[object, ...]]:
    """What warm programs and limits were prepared for: names, types, shapes and dtypes."""
    return [
        (name, value.shape, value.dtype.name) if isinstance(value, np.ndarray) else (name, type(value))
        for name, value in inputs.items()
    ]


def _wait(made: Future[T], stop: Stop) -> T:
    while True:
        try:
            return made.result(_LOOK_S)
        except NotYet:
            # TimeoutError is also what the work itself may have raised.
            if made.done():
                return made.result()
            if stop.is_set():
                raise Cancelled("grading was stopped") from None
