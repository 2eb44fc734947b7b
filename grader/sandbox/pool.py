"""Keep runners ready before they are needed.

Starting a backend and compiling take a second or more, grading a tenth of that. So the pool keeps "generic" forks,
whose backend is up, and forks that have also run the warmup.py of a recently used problem. A fork serves one submission
and dies; meanwhile, the pool makes the next ones.
"""

import collections
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.core.context import Stop
from grader.core.errors import Cancelled, GraderFault, LostRunner
from grader.core.reasons import Reporter
from grader.package.package import Limits
from grader.sandbox.cgroup import Cgroups
from grader.sandbox.compiled_programs import CompiledPrograms
from grader.sandbox.priority import giving_way
from grader.sandbox.protocol import RunnerSpec, Warmup
from grader.sandbox.retry_backoff import RetryBackoff, Setback
from grader.sandbox.session import ForkSession
from grader.sandbox.zygote import START_LIMIT_S, Zygote

log = logging.getLogger("meshgrade.pool")

_LOOK_S = 0.5
_MAX_PAUSE_S = 15.0
# A slot takes the next waiting submission within this time.
_BETWEEN_TWO_S = 0.15
# After this long without a submission, the pool shrinks: the last `_RESTING_PROBLEMS` problems keep one fork each, and
# each program keeps generic forks for its last `_RESTING_GENERIC` numbers of devices.
_SPARE_S = 300.0
# It shrinks only after this long without background work, too. References are prepared one after another, so a shorter
# time would end forks that the next one needs.
_SPARE_BACKGROUND_S = 15.0
_RESTING_PROBLEMS = 4
_RESTING_GENERIC = 2
# After this long, and after a start until somebody comes, only one fork is left: a generic one with as many devices as
# the last request needed. Opening a problem or saving a draft wakes the pool.
ASLEEP_S = 900.0
# A zygote that is killed from outside takes the fork it was making with it. After this many in a row, takers get the
# error.
_MAX_LOST = 3


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many forks wait. A waiting fork takes about 100 MB.

    Args:
      generic: forks for any problem, with the backend up.
      per_problem: forks warmed for the most recently used problem, besides the generic ones. Any other warm problem has
        one.
      problems: how many recently used problems stay warm: only four, some minutes after the last submission.
      fillers: how many forks are made at the same time.
      at_once: the most submissions that are graded at the same time; None if unknown.
    """

    generic: int = 1
    per_problem: int = 3
    problems: int = 4
    fillers: int = 1
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a waiting fork is ready for."""

    devices: int
    warmup: Warmup | None
    program: str
    limits: Limits | None = None


def _kind_of(spec: RunnerSpec) -> _Kind:
    # Limits matter only if a warm-up runs before the submission.
    return _Kind(spec.devices, spec.warmup, spec.program, spec.limits if spec.warmup else None)


@dataclass(frozen=True, slots=True)
class PoolStats:
    """The current state of a pool.

    `warm` counts forks by package version; `pids` are the waiting forks, and `root` is their common ancestor; `misses`
    counts programs that warm-ups compiled although they were cached; `setbacks` are versions whose warm-up failed.
    `full` is true when no fork is missing or being made.
    """

    alive: bool
    generic: int
    warm: dict[str, int]
    zygotes: int
    pids: tuple[int, ...]
    root: int | None
    misses: int
    setbacks: tuple[Setback, ...] = ()
    full: bool = False


class Pool:
    """Keeps forks ready and hands them out. A zygote that dies is replaced.

    Life cycle: `start`; then `take` and `want`, from any thread; then `close`.

    Args:
      make_zygote: makes a zygote that has not been started.
      order: the fields that `Zygote.fork` sends for every fork.
    """

    def __init__(
        self,
        make_zygote: Callable[[], Zygote],
        order: dict[str, object],
        compiled: CompiledPrograms,
        settings: PoolSettings,
        cgroups: Cgroups | None = None,
    ) -> None:
        self._make_zygote = make_zygote
        self._order = order
        self._compiled = compiled
        self._settings = settings
        self._cgroups = cgroups
        self._zygote: Zygote | None = None
        self._zygotes = self._misses = 0
        self._waiting: dict[_Kind, collections.deque[ForkSession]] = {}
        # The kinds to keep, the last requested one at the end.
        self._asked: dict[_Kind, None] = {}
        self._waiters: collections.Counter[_Kind] = collections.Counter()
        self._making: collections.Counter[_Kind] = collections.Counter()
        self._changed = threading.Condition()
        self._zygote_lock = threading.Lock()
        self._fault: GraderFault | None = None
        self._lost = 0
        self._closed = False
        # Versions whose warm-up failed. Until the next try, their submissions run in generic forks.
        self._setbacks = RetryBackoff()
        self._lent: list[ForkSession] = []
        # Called whenever the pool finds itself at rest, so others can let go of idle processes, too.
        self.when_at_rest: Callable[[], None] = lambda: None
        self._last_returned = self._last_submission = self._last_background = -math.inf
        # The first thread makes only generic forks, so that no submission has to wait for a warm-up.
        self._threads = [
            threading.Thread(target=self._fill, args=(number == 0,), name=f"pool-{number}", daemon=True)
            for number in range(settings.fillers + 1)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End every fork and the zygote."""
        with self._changed:
            self._closed = True
            waiting = [session for queue in self._waiting.values() for session in queue]
            self._waiting.clear()
            self._changed.notify_all()
        for session in waiting:
            session.close()
        for thread in self._threads:
            thread.join(5)
        if self._zygote is not None:
            self._zygote.close()

    def want(self, spec: RunnerSpec) -> None:
        """From now on, keep forks for this kind of runner ready."""
        kind = _kind_of(spec)
        with self._changed:
            self._ask_for(kind, background=False)
            self._changed.notify_all()

    def take(self, spec: RunnerSpec, stop: Stop) -> ForkSession:
        """Return a fork for one submission: a warmed one, or else a generic one, or else the next one made.

        Raises:
          GraderFault, WallMissing: no fork could be made.
          Cancelled: `stop` was set.
        """
        generic = _Kind(spec.devices, None, spec.program)
        # No submission follows from background work, so it gets no warmed fork, and none is warmed for it.
        kind = generic if spec.background else _kind_of(spec)
        deadline = time.monotonic() + START_LIMIT_S
        with self._changed:
            self._ask_for(kind, background=spec.background)
            self._fault = None
            self._waiters[generic] += 1
            self._changed.notify_all()
            try:
                while True:
                    for offered in (kind, generic):
                        session = self._pop(offered)
                        if session is not None:
                            if spec.program == "serve" and not spec.background and not spec.own:
                                self._lent.append(session)
                                session.when_closed = self._returned
                            return session
                    if stop.is_set():
                        raise Cancelled("grading was stopped")
                    if self._fault is not None:
                        raise self._fault
                    if self._closed or time.monotonic() > deadline:
                        raise GraderFault("no runner could be had")
                    self._changed.wait(0.05)
            finally:
                self._waiters[generic] -= 1
                self._changed.notify_all()

    def stats(self) -> PoolStats:
        with self._changed:
            generic = sum(len(queue) for kind, queue in self._waiting.items() if kind.warmup is None)
            warm = {kind.warmup.version: len(queue) for kind, queue in self._waiting.items() if kind.warmup}
            pids = tuple(session.pid for queue in self._waiting.values() for session in queue)
            full = not self._making.total() and self._missing(generic_only=False) is None
            zygote = self._zygote
        root = zygote.root if zygote is not None and zygote.alive else None
        setbacks = self._setbacks.all()
        return PoolStats(root is not None, generic, warm, self._zygotes, pids, root, self._misses, setbacks, full)

    def _returned(self) -> None:
        with self._changed:
            self._last_returned = time.monotonic()
            self._changed.notify_all()

    def _pop(self, kind: _Kind) -> ForkSession | None:
        queue = self._waiting.get(kind)
        while queue:
            session = queue.popleft()
            if session.alive:
                return session
            session.close()
        return None

    def _ask_for(self, kind: _Kind, *, background: bool) -> None:
        """Move this kind to the end of the recently used ones, and drop the oldest problems if there are too many."""
        if background:
            self._last_background = time.monotonic()
        else:
            self._last_submission = time.monotonic()
        for each in (_Kind(kind.devices, None, kind.program), kind):
            self._asked.pop(each, None)
            self._asked[each] = None
        self._keep_problems(self._settings.problems)

    def _keep_problems(self, number: int) -> None:
        self._keep_last(number, [each for each in self._asked if each.warmup])

    def _keep_generic(self, number: int) -> None:
        """Keep the kinds requested last, for each program: other problems may need other runners and verifiers."""
        generic = [each for each in self._asked if each.warmup is None]
        for program in {each.program for each in generic}:
            self._keep_last(number, [each for each in generic if each.program == program])

    def _keep_last(self, number: int, kinds: list[_Kind]) -> None:
        for old in kinds[:-number]:
            del self._asked[old]
            for session in self._waiting.pop(old, ()):
                session.close()

    def _fill(self, generic_only: bool) -> None:
        """Make missing forks until the pool is closed. Each thread runs this."""
        pause = 0.0
        while True:
            with self._changed:
                kind = None
                while not self._closed and kind is None:
                    self._drop_dead()
                    self._drop_spare()
                    kind = self._missing(generic_only)
                    if kind is None:
                        self._changed.wait(_LOOK_S if self._settings.at_once is None else _BETWEEN_TWO_S)
                if self._closed:
                    return
                assert kind is not None
                self._making[kind] += 1
            try:
                self._offer(kind, self._make(kind))
                self._lost = 0
                pause = 0.0
            except Cancelled:
                return
            except Exception as error:  # this thread must survive whatever a fork does; takers get the error
                self._failed(kind, error)
                pause = min(_MAX_PAUSE_S, 2 * pause + 0.2)
                self._rest(pause)
            finally:
                with self._changed:
                    self._making[kind] -= 1

    def _rest(self, pause_s: float) -> None:
        """Wait before the next try, but only while no taker waits for a fork."""
        until = time.monotonic() + pause_s
        with self._changed:
            while not self._closed and not self._waiters.total() and time.monotonic() < until:
                self._changed.wait(until - time.monotonic())

    def _failed(self, kind: _Kind, error: Exception) -> None:
        with self._changed:
            if kind.warmup is not None and self._zygote is not None and self._zygote.alive:
                self._set_back(kind.warmup.version, str(error))
            elif isinstance(error, LostRunner) and self._lost < _MAX_LOST:
                self._lost += 1
                log.warning("a runner was lost while starting, and is started again: %s", error)
            else:
                log.warning("no runner could be started: %s", error)
                self._fault = error if isinstance(error, GraderFault) else GraderFault(str(error))
                self._changed.notify_all()

    def _set_back(self, version: str, why: str) -> None:
        setback = self._setbacks.failed(version, why)
        log.warning(
            "the warm-up of version %s failed (%d in a row) and is retried in %.0f s: %s",
            version,
            setback.failures,
            setback.again_in_s,
            why,
        )

    def _missing(self, generic_only: bool) -> _Kind | None:
        """The kind to make next: for a waiting taker, or else for the most recently used problem."""
        for kind, number in self._waiters.items():
            # Count only generic forks: a taker waits because no fork is warm for its problem.
            if number > len(self._waiting.get(kind, ())) + self._making[kind]:
                return kind
        for kind in reversed(self._asked):
            if kind.warmup is not None and (generic_only or not self._setbacks.is_due(kind.warmup.version)):
                continue
            if kind.warmup is not None and self._holds_back(kind, kind.warmup):
                continue
            if len(self._waiting.get(kind, ())) + self._making[kind] < self._target(kind):
                return kind
        return None

    def _target(self, kind: _Kind) -> int:
        if self._is_asleep():
            generic = (each for each in reversed(self._asked) if each.warmup is None and each.program == "serve")
            return int(kind == next(generic, None))
        if kind.program in ("tpu", "gpu"):
            # These are rarely used, and a compiler is loaded only with the program, so a waiting fork saves little.
            return 0
        if kind.warmup is None:
            return self._settings.generic
        latest = next((each for each in reversed(self._asked) if each.warmup), None)
        busy = kind == latest and not self._is_resting()
        return self._settings.per_problem if busy else min(1, self._settings.per_problem)

    def _holds_back(self, kind: _Kind, warmup: Warmup) -> bool:
        """Whether to delay warming a fork, because it would take a core from a submission that is being graded.

        While every slot is taken, a submission without a warm fork loads only the cached programs that it uses, which
        takes less CPU time in total. Once a slot is free, a problem without a warm fork gets one.
        """
        if self._settings.at_once is None or not self._compiled.has(kind.devices, warmup):
            return False
        self._lent = [session for session in self._lent if session.alive]
        grading = len(self._lent) + (time.monotonic() - self._last_returned < _BETWEEN_TWO_S)
        return grading >= self._settings.at_once or (grading > 0 and bool(self._waiting.get(kind)))

    def _drop_dead(self) -> None:
        for kind, queue in self._waiting.items():
            for session in list(queue):
                unrest = session.restlessness()
                if session.alive and unrest is None:
                    continue
                queue.remove(session)
                session.close()
                if unrest is not None and kind.warmup is not None:
                    self._set_back(kind.warmup.version, f"warmup.py left something running: {unrest}")
                else:
                    log.warning("a waiting fork for %s devices died and is replaced", kind.devices)

    def _is_asleep(self) -> bool:
        now = time.monotonic()
        # On a busy machine, a fork can take longer than that, and the work that waits for it still needs it.
        is_left = not self._waiters.total() and now - self._last_background >= _SPARE_BACKGROUND_S
        return is_left and now - self._last_submission >= ASLEEP_S

    def _is_resting(self) -> bool:
        now = time.monotonic()
        return now - self._last_submission >= _SPARE_S and now - self._last_background >= _SPARE_BACKGROUND_S

    def _drop_spare(self) -> None:
        """End spare forks after a while without submissions, because waiting forks hold memory."""
        if not self._is_resting():
            return
        self._keep_problems(_RESTING_PROBLEMS)
        self._keep_generic(_RESTING_GENERIC)
        self.when_at_rest()
        for kind, queue in self._waiting.items():
            while kind in self._asked and len(queue) > self._target(kind):
                queue.pop().close()

    def _make(self, kind: _Kind) -> ForkSession:
        """Make a fork, after storing its programs."""
        if kind.warmup is None or kind.limits is None:
            return self._fork(kind)
        self._compiled.ensure(kind.devices, kind.warmup, kind.limits, lambda: self._fork(kind))
        session = self._fork(kind)
        try:
            # No submission waits for this one: each runs in a fork that exists already.
            with giving_way(session.pid):
                self._misses += self._compiled.warm(session, kind.devices, kind.warmup, kind.limits)
            self._setbacks.succeeded(kind.warmup.version)
            return session
        except BaseException:
            session.close()
            raise

    def _fork(self, kind: _Kind) -> ForkSession:
        order = {**self._order, "devices": kind.devices, "program": kind.program}
        reporter: Reporter = "runner" if kind.program == "serve" else "verifier"
        session = ForkSession(self._living_zygote().fork(order), self._cgroups, reporter)
        try:
            environment = session.wait_until_ready()["environment"]
            assert isinstance(environment, dict)
            session.environment = environment
            return session
        except BaseException:
            session.close()
            raise

    def _living_zygote(self) -> Zygote:
        with self._zygote_lock:
            if self._closed:
                raise Cancelled("the pool is closed")
            if self._zygote is None or not self._zygote.alive:
                if self._zygote is not None:
                    log.warning("the zygote died and is replaced")
                    self._zygote.close()
                self._zygote = self._make_zygote()
                self._zygotes += 1
                self._zygote.start()
            return self._zygote

    def _offer(self, kind: _Kind, session: ForkSession) -> None:
        with self._changed:
            if not self._closed and kind in self._asked:
                self._waiting.setdefault(kind, collections.deque()).append(session)
                self._changed.notify_all()
                return
        session.close()
