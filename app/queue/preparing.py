"""After the start, compute what the first submission to each problem would otherwise wait for."""

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial

from app.queue.protocol import Grader
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from grader.errors import Cancelled, MeshgradeError
from grader.package.package import Package

log = logging.getLogger(__name__)
_LOOK_S = 0.2


class Preparing:
    """One package after the other, in a thread of its own; a failure costs time later and nothing else.

    References come first, of all of them: without one nothing is graded. Known wrong submissions only help to explain.
    """

    def __init__(self, grader: Grader, walls: Walls, say: Callable[[str], None]) -> None:
        self._grader = grader
        self._walls = walls
        self._say = say
        self._stop = threading.Event()
        self._threads = GradingThreads(1)

    async def run(self, packages: list[Package]) -> None:
        while not self._walls.probed:
            await asyncio.sleep(_LOOK_S)
        for each in self._walls.missing:
            self._say(
                f"NOT GRADING: the wall '{each['wall']}' is missing: {each['found']}. To mend it: {each['remedy']}"
            )
        while not self._walls.stand:
            await asyncio.sleep(_LOOK_S)
        for prepare in (self._grader.prepare, self._grader.prepare_known):
            for package in packages:
                if not await self._threads.run(partial(self._run, prepare, package)):
                    return

    def stop(self) -> None:
        self._stop.set()

    def _run(self, prepare: Callable[..., None], package: Package) -> bool:
        slug = package.slug
        try:
            prepare(package, progress=lambda phase: self._say(f"preparing {slug}: {phase}"), stop=self._stop)
        except Cancelled:
            return False
        except MeshgradeError as error:
            self._say(f"{slug} could not be prepared: {error}")
        except Exception:  # whatever it was, the problem itself can still be graded, or will say why not
            log.exception("preparing %s failed", slug)
        else:
            if prepare == self._grader.prepare:
                self._say(f"{slug} is ready.")
        return not self._stop.is_set()
