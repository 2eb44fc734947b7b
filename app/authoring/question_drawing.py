"""Draws the questions of published answer-mode problems, so that students can be asked."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from app.core.database import Database
from app.core.errors import PackageNotStored
from app.grading.queue.protocol import Grader, PackageSource
from app.problems.questions import published_without, store_questions
from grader.answers.question_variants import Variants
from grader.core.context import Context
from grader.core.errors import Cancelled, GraderFault
from grader.package.package import AnswerManifest, Package

log = logging.getLogger(__name__)
Draw = Callable[[], Variants | None]


class QuestionDrawing:
    """Belongs to one event loop. A failure is retried when the grader's own setback is due.

    Args:
      in_thread: calls a function that blocks.
    """

    def __init__(
        self,
        database: Database,
        grader: Grader,
        packages: PackageSource,
        in_thread: Callable[[Draw], Awaitable[Variants | None]],
    ) -> None:
        self._database = database
        self._grader = grader
        self._packages = packages
        self._in_thread = in_thread
        self._without: set[str] = set()

    async def draw(self, context: Context) -> None:
        """Draw what is missing. Raises WallMissing and Cancelled."""
        for version in await published_without(self._database, self._without):
            if not self._grader.setbacks.is_due(version):
                continue
            try:
                package = await self._packages.get(version)
            except PackageNotStored:  # nothing can be graded by it either, which is reported there
                self._without.add(version)
                continue
            questions = None
            if isinstance(package.manifest, AnswerManifest):
                try:
                    questions = await self._in_thread(partial(self._draw_one, package, context))
                except GraderFault as fault:
                    log.error("the questions of %s could not be drawn: %s", package.slug, fault)
                    continue
            if questions is None:
                self._without.add(version)
            else:
                await store_questions(self._database, version, questions)

    def _draw_one(self, package: Package, context: Context) -> Variants | None:
        # In the background, so that a start that nobody uses leaves the pool asleep.
        with suppress(Cancelled):  # a submission needs the same, or the service stops, which the next call finds
            self._grader.prepare(package, context, background=True)
        return self._grader.variants(package, context)
