"""Computes what the first submission to a problem would wait for, after the start and when somebody opens a problem."""

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from app.core.free_memory import trim
from app.grading.queue.protocol import Grader
from app.grading.queue.threads import GradingThreads
from app.grading.queue.walls import Walls
from grader.core.context import Context, Progress
from grader.core.errors import Cancelled, MeshgradeError
from grader.package.package import Package
from grader.package.variants import every_variant
from grader.sandbox.retry_backoff import Setback
from grader.sandbox.usage import cpu_s_below

log = logging.getLogger(__name__)
_LOOK_S = 0.2
# For the references of a start. Two that run at its end take up to 15 more.
CPU_S = 70.0
_ALL = "All problems are prepared."


@dataclass(frozen=True, slots=True)
class Preparation:
    """The progress of a process.

    Attributes:
      ready: the versions whose reference has run. They are shortened, because neighbours receive all of them.
      waiting: how many are to be prepared: after the start, because somebody opened them, or again because it failed.
      later: how many the start left for the first one who needs them.
      phases: the current phases of the problems in progress, by slug.
      setbacks: the problems whose reference failed and will be tried again, by slug.
      is_in_progress: whether the start still prepares problems.
    """

    ready: frozenset[str]
    waiting: int
    later: int
    phases: dict[str, str]
    setbacks: tuple[Setback, ...]
    is_in_progress: bool

    @property
    def total(self) -> int:
        return len(self.ready) + self.waiting + self.later

    @property
    def is_news(self) -> bool:
        """Whether the list of problems says how far it is."""
        return self.is_in_progress or bool(self.setbacks)

    def of(self, package: Package) -> "ProblemPreparation | None":
        """The progress of this problem after a start; None if it is ready, or if nobody needs to know."""
        setback = next((each for each in self.setbacks if each.name == package.slug), None)
        if _short(package.version) in self.ready or (setback is None and not self.is_in_progress):
            return None
        return ProblemPreparation(self.phases.get(package.slug, ""), setback)


@dataclass(frozen=True, slots=True)
class ProblemPreparation:
    """`phase` is its current phase, or empty while others come first. `setback` is set if it has failed."""

    phase: str
    setback: Setback | None


class Preparer:
    """Runs in its own threads. A failure only costs time later.

    The references of the packages are run, because without its reference a problem cannot be graded. After the start,
    as many at a time as submissions are graded, until the process has used `cpu_s` seconds of CPU time. The others are
    left until somebody opens the problem (`ask`), and are then run one at a time, or by the first submission. If one
    fails, it is tried again after a while. All of this pauses while a submission is graded. A submission that needs a
    missing reference runs it itself. Any thread may call `state`.

    Args:
      cpu_s: of this process and all that it starts, from the first reference on.
    """

    def __init__(
        self, grader: Grader, walls: Walls, say: Callable[[str], None], *, at_once: int = 1, cpu_s: float = CPU_S
    ) -> None:
        self._grader = grader
        self._walls = walls
        self._say = say
        self._stop = threading.Event()
        self._at_once = at_once
        self._cpu_s = cpu_s
        self._threads = GradingThreads(at_once)
        self._guard = threading.Lock()
        # By version, in `_ready` shortened. Of those that are to be prepared, the one opened last is at the end.
        self._ready: frozenset[str] = frozenset()
        self._waiting: dict[str, Package] = {}
        self._later: frozenset[str] = frozenset()
        self._opened: set[str] = set()
        self._is_starting = self._has_said_all = False
        self._phases: dict[str, str] = {}
        self._asked = asyncio.Event()

    def state(self) -> Preparation:
        # Every page of a problem asks, and almost always nothing has failed.
        failed = {each.name: each for each in self._grader.setbacks.all()}
        with self._guard:
            found = {
                package.slug: failed[each.identity]
                for package in (self._waiting.values() if failed else ())
                for each in every_variant(package)
                if each.identity in failed
            }
            setbacks = tuple(replace(setback, name=slug) for slug, setback in found.items())
            waiting, later = len(self._waiting), len(self._later)
            return Preparation(self._ready, waiting, later, dict(self._phases), setbacks, self._is_starting)

    def ask(self, package: Package) -> None:
        """Prepare this problem next, unless it is ready: somebody has opened it. Belongs to the event loop of `run`."""
        with self._guard:
            if _short(package.version) in self._ready:
                return
            self._opened.add(package.version)
            self._later -= {package.version}
            self._waiting.pop(package.version, None)
            self._waiting[package.version] = package
        self._asked.set()

    async def run(self, packages: list[Package]) -> None:
        """Prepare packages after the start, the first ones first, and then what somebody opens, until `stop`."""
        await self.start(packages)
        while not self._stop.is_set():
            self._asked.clear()
            if package := self._next():
                await self._threads.run(partial(self._run, package))
                self._say_if_all_are_ready()
                if not self._waiting:
                    await self._threads.run(trim)
            # What has failed becomes due, which nothing announces.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), _LOOK_S if self._waiting else None)

    async def start(self, packages: list[Package]) -> None:
        """Prepare packages until the CPU time for it is spent. What somebody has opened comes first."""
        # The first submission would wait half a minute for a program at full size, and seconds for any other reference.
        packages = sorted(packages, key=lambda package: not _has_full_size(package))
        with self._guard:
            first = {each.version: each for each in reversed(packages) if each.version not in self._waiting}
            self._waiting = first | self._waiting
            self._is_starting = bool(packages)
        while not self._walls.probed:
            await asyncio.sleep(_LOOK_S)
        for each in self._walls.missing:
            self._say(
                f"NOT GRADING: the wall '{each['wall']}' is missing: {each['found']}. To fix it: {each['remedy']}"
            )
        while not self._walls.are_up:
            await asyncio.sleep(_LOOK_S)
        left = {each.version for each in packages}
        most_cpu_s = cpu_s_below(os.getpid()) + self._cpu_s
        await asyncio.gather(*(self._run_references(left, most_cpu_s) for _ in range(self._at_once)))
        if not self._stop.is_set():
            self._end_start(left)
            # A reference's arrays and texts leave a third of the process's memory in holes.
            await self._threads.run(trim)

    async def _run_references(self, left: set[str], most_cpu_s: float) -> None:
        while left and cpu_s_below(os.getpid()) < most_cpu_s:
            with self._guard:
                version = next(each for each in reversed(self._waiting) if each in left)
                package = self._waiting[version]
            left.discard(version)
            if not await self._threads.run(partial(self._run, package)):
                return

    def _end_start(self, left: set[str]) -> None:
        with self._guard:
            self._is_starting = False
            self._later = frozenset(left - self._opened)
            for version in self._later:
                del self._waiting[version]
        if self._later:
            self._say(f"{len(self._later)} problems are prepared when they are first needed.")
        self._say_if_all_are_ready()

    def _say_if_all_are_ready(self) -> None:
        if self._ready and not self._waiting and not self._later and not self._has_said_all:
            self._has_said_all = True
            self._say(_ALL)

    def _next(self) -> Package | None:
        """The problem that somebody opened last, of those that are not waiting for another try."""
        is_due = self._grader.setbacks.is_due
        with self._guard:
            waiting = reversed(self._waiting.values())
            return next((each for each in waiting if all(is_due(one.identity) for one in every_variant(each))), None)

    def stop(self) -> None:
        self._stop.set()

    def _run(self, package: Package) -> bool:
        slug = package.slug

        def report(phase: str) -> None:
            with self._guard:
                self._phases[slug] = phase
            self._say(f"preparing {slug}: {phase}")

        try:
            # The variant of the person who opened it comes first.
            for each in sorted(every_variant(package), key=lambda each: each.identity != package.identity):
                self._prepare(each, report)
        except Cancelled:
            return False
        except MeshgradeError as error:
            self._failed(slug, str(error))
        except Exception as error:  # the problem itself can still be graded, or will say why not
            log.exception("preparing %s failed", slug)
            self._failed(slug, type(error).__name__)
        else:
            with self._guard:
                self._ready |= {_short(package.version)}
                self._waiting.pop(package.version, None)
            self._say(f"{slug} is ready.")
        finally:
            with self._guard:
                self._phases.pop(slug, None)
        return not self._stop.is_set()

    def _prepare(self, package: Package, report: Progress) -> None:
        while True:
            try:
                return self._grader.prepare(package, Context(report, self._stop), background=True)
            except Cancelled:
                # Unless it was stopped, a submission needed the reference immediately and runs it itself.
                if self._stop.is_set():
                    raise

    def _failed(self, slug: str, why: str) -> None:
        setback = next((each for each in self.state().setbacks if each.name == slug), None)
        self._say(f"could not prepare {slug}, trying again in {setback.again_in_s if setback else 0:.0f} s: {why}")


def _short(version: str) -> str:
    return version[:16]


def _has_full_size(package: Package) -> bool:
    return package.manifest.mode == "program" and package.manifest.program.full_size is not None
