"""After the start, and while nothing is graded, computes what the first submission to each problem would wait for."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

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
# Two references that run at its end take up to 30 more.
_CPU_S = 145.0
_ALL = "All problems are prepared."


@dataclass(frozen=True, slots=True)
class Preparation:
    """The progress of a process: for `ready` of `total` problems, the reference has been run.

    `phases` maps the slugs of the problems in progress to their current phase. `setbacks` lists the problems whose
    reference failed and will be tried again, by slug.
    """

    ready: frozenset[str]
    total: int
    phases: dict[str, str]
    setbacks: tuple[Setback, ...]

    @property
    def is_in_progress(self) -> bool:
        """Whether some problems have not been tried yet."""
        return len(self.ready) + len(self.setbacks) < self.total

    def of(self, slug: str) -> "ProblemPreparation | None":
        """The progress of this problem; None if it is ready, or if this process does not prepare it."""
        setback = next((each for each in self.setbacks if each.name == slug), None)
        if slug in self.ready or (setback is None and not self.is_in_progress):
            return None
        return ProblemPreparation(self.phases.get(slug, ""), setback)


@dataclass(frozen=True, slots=True)
class ProblemPreparation:
    """`phase` is its current phase, or empty while others come first. `setback` is set if it has failed."""

    phase: str
    setback: Setback | None


class Preparer:
    """Runs in its own threads. A failure only costs time later.

    The references of the packages are run, as many at a time as submissions are graded, because without its reference
    a problem cannot be graded. If one fails, it is tried again after a while. All of this pauses while a submission is
    graded. A submission that needs a missing reference runs it itself. So does the first one to each problem that is
    left when the process has used `cpu_s` seconds of CPU time. Any thread may call `state`.

    Args:
      cpu_s: of this process and all that it starts, from the first reference on.
    """

    def __init__(
        self, grader: Grader, walls: Walls, say: Callable[[str], None], *, at_once: int = 1, cpu_s: float = _CPU_S
    ) -> None:
        self._grader = grader
        self._walls = walls
        self._say = say
        self._stop = threading.Event()
        self._at_once = at_once
        self._cpu_s = cpu_s
        self._threads = GradingThreads(at_once)
        self._ready: frozenset[str] = frozenset()
        self._packages: list[Package] = []
        self._phases: dict[str, str] = {}
        self._guard = threading.Lock()

    def state(self) -> Preparation:
        # Every page of a problem asks, and almost always nothing has failed.
        failed = {each.name: each for each in self._grader.setbacks.all()}
        found = {
            package.slug: failed[each.identity]
            for package in (self._packages if failed else ())
            for each in every_variant(package)
            if each.identity in failed
        }
        setbacks = tuple(replace(setback, name=slug) for slug, setback in found.items())
        with self._guard:
            return Preparation(self._ready, len(self._packages), dict(self._phases), setbacks)

    async def run(self, packages: list[Package]) -> None:
        self._packages = packages
        while not self._walls.probed:
            await asyncio.sleep(_LOOK_S)
        for each in self._walls.missing:
            self._say(
                f"NOT GRADING: the wall '{each['wall']}' is missing: {each['found']}. To fix it: {each['remedy']}"
            )
        while not self._walls.are_up:
            await asyncio.sleep(_LOOK_S)
        # The first submission would wait half a minute for a program at full size, and seconds for any other reference.
        left = sorted(packages, key=lambda package: not _has_full_size(package))
        most_cpu_s = cpu_s_below(os.getpid()) + self._cpu_s
        await asyncio.gather(*(self._run_references(left, most_cpu_s) for _ in range(self._at_once)))
        if self._stop.is_set():
            return
        self._packages = [package for package in packages if package not in left]
        if packages:
            self._say(f"{len(left)} problems are prepared by their first submission." if left else _ALL)
        await self._try_again([package for package in self._packages if package.slug not in self._ready])

    async def _run_references(self, left: list[Package], most_cpu_s: float) -> None:
        while left and cpu_s_below(os.getpid()) < most_cpu_s:
            if not await self._threads.run(partial(self._run, left.pop(0))):
                return

    async def _try_again(self, failed: list[Package]) -> None:
        while failed:
            await asyncio.sleep(_LOOK_S)
            for package in failed:
                due = all(self._grader.setbacks.is_due(each.identity) for each in every_variant(package))
                if due and not await self._threads.run(partial(self._run, package)):
                    return
            failed = [package for package in failed if package.slug not in self._ready]

    def stop(self) -> None:
        self._stop.set()

    def _run(self, package: Package) -> bool:
        slug = package.slug

        def report(phase: str) -> None:
            with self._guard:
                self._phases[slug] = phase
            self._say(f"preparing {slug}: {phase}")

        try:
            for each in every_variant(package):
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
                self._ready |= {slug}
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


def _has_full_size(package: Package) -> bool:
    return package.manifest.mode == "program" and package.manifest.program.full_size is not None
