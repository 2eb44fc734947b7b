"""Draw each attempt's own hidden cases, in call mode.

The inputs are drawn from the deployment's secret and the attempt's name, and the reference answers them in a runner
that never runs submissions. So a submission that leaks its inputs reveals nothing about another attempt's. The same
name gives the same inputs, so that an attempt can be graded again.

While nothing is graded, inputs are drawn and answered for the next attempts at the problems attempted last. An attempt
has such inputs if it gets the name that they were drawn for.
"""

import collections
import hashlib
import hmac
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from grader.checks.call_outcome import Answer
from grader.core.case import Case
from grader.core.context import NEVER, Stop
from grader.core.errors import Cancelled, GraderFault, LostRunner, SubmissionFault
from grader.modes.call.call_arguments import answers_of, wrong_arguments
from grader.modes.package_code import runner_spec
from grader.package.package import CallManifest, Package
from grader.sandbox.background_gate import BackgroundGate
from grader.sandbox.protocol import Sandbox, Session

log = logging.getLogger("meshgrade.judge")

# A runner ends after this many requests, or after this long without one, because it takes 200 MB.
_USES = 128
_IDLE_S = 30.0
_LOOK_S = 0.05
# How many attempts at one problem there are inputs for, and at how many problems.
_AHEAD, _PROBLEMS_AHEAD = 2, 4
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HiddenCases:
    """The hidden cases of one attempt, while they are being made.

    `cases` waits for the inputs and starts the reference on them; `answers` waits for its answers, by case id. Both
    raise GraderFault if the package's own code fails, and Cancelled.
    """

    cases: Callable[[], tuple[Case, ...]]
    answers: Callable[[], dict[str, Answer]]


@dataclass(slots=True)
class _Ahead:
    """What is drawn for the next attempts at one problem.

    `draws` has the inputs and their answers by name, and `free` the names that no attempt has got yet. A draw that
    `failed` is not tried again before the next attempt.
    """

    package: Package
    manifest: CallManifest
    like: Sequence[Case]
    draws: dict[str, tuple[tuple[Case, ...], dict[str, Answer]]] = field(default_factory=dict)
    free: list[str] = field(default_factory=list)
    failed: bool = False

    @property
    def is_short(self) -> bool:
        return not self.failed and len(self.free) < _AHEAD


class HiddenCaseDraws:
    """Draws hidden cases. Threads may share one. It keeps runners for a while, for the next attempts.

    Args:
      idle: tells when nothing is graded.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, idle: BackgroundGate) -> None:
        self._sandbox = sandbox
        self._secret = secret
        self._idle_gate = idle
        # By version, the problem attempted last at the end.
        self._ahead: collections.OrderedDict[str, _Ahead] = collections.OrderedDict()
        self._is_drawing_ahead = False
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
        if (draw := self._draw_of(package, manifest, name, like)) is not None:
            return HiddenCases(lambda: draw[0], lambda: draw[1])
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

    def next_name(self, package: Package) -> str | None:
        """A name that no attempt has and whose inputs are drawn and answered; None if there is none."""
        with self._guard:
            ahead = self._ahead.get(package.identity)
            return ahead.free.pop() if ahead is not None and ahead.free else None

    def _draw_of(
        self, package: Package, manifest: CallManifest, name: str, like: Sequence[Case]
    ) -> tuple[tuple[Case, ...], dict[str, Answer]] | None:
        """What was drawn ahead under this name, if anything was. Begins to draw for the attempts after this one."""
        with self._guard:
            key = package.identity
            ahead = self._ahead[key] = self._ahead.pop(key) if key in self._ahead else _Ahead(package, manifest, like)
            ahead.failed = False
            while len(self._ahead) > _PROBLEMS_AHEAD:
                self._ahead.popitem(last=False)
            if not self._is_drawing_ahead:
                self._is_drawing_ahead = True
                # It must not keep the process from ending while it waits.
                threading.Thread(target=self._draw_ahead, name="draw-ahead", daemon=True).start()
            return ahead.draws.pop(name, None)

    def _draw_ahead(self) -> None:
        while (ahead := self._next_short()) is not None:
            self._idle_gate.wait(NEVER)
            # As random as the id of an attempt, which it becomes.
            name = secrets.token_hex(16)
            try:
                cases = self._cases(ahead.package, ahead.manifest, name, ahead.like)
                answers = self._answers(ahead.package, ahead.manifest, cases)
            except Exception as error:  # this thread draws for other problems, too, and the attempts report what fails
                ahead.failed = True
                log.warning("no hidden cases of %s could be drawn ahead: %s", ahead.package.slug, error)
                continue
            with self._guard:
                # Some names were given away and never came back, because the attempt was refused.
                lost = [each for each in ahead.draws if each not in ahead.free]
                for each in lost[:-_AHEAD]:
                    del ahead.draws[each]
                ahead.draws[name] = cases, answers
                ahead.free.append(name)

    def _next_short(self) -> _Ahead | None:
        with self._guard:
            ahead = next((each for each in reversed(self._ahead.values()) if each.is_short), None)
            self._is_drawing_ahead = ahead is not None
            return ahead

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
            return answers_of(session, manifest, cases)

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
