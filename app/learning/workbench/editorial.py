"""The editorial of a problem, which opens to anyone who has solved it or given up on it."""

from dataclasses import dataclass
from datetime import datetime

from app.accounts.caller import User
from app.core.database import Database
from app.core.web.markdown import Prose
from app.grading.attempts.give_up import GiveUps
from app.grading.attempts.next_problem import next_problem, prepared_by
from app.grading.attempts.progress import standings
from app.learning.workbench.solutions import Solutions
from app.problems.catalogue import Catalogue
from app.problems.exams import OpenExam
from app.problems.problem_texts import ProblemTexts
from app.problems.rendered_texts import texts_of
from app.problems.visibility import Visibility
from grader.package.package import Package


@dataclass(frozen=True, slots=True)
class Editorial:
    """What the section of this name shows. `prose` is None while it is closed to the reader.

    `exam` is what closes it for a while.
    `is_solved` if one of their attempts was accepted; `following` is the problem to solve next,
    and `prepared` are the others that have this one as a prerequisite.
    """

    slug: str
    prose: Prose | None
    gave_up_at: datetime | None
    exam: OpenExam | None
    is_solved: bool
    following: Package | None
    prepared: tuple[Package, ...]


class Editorials:
    """Safe to share between requests."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        visibility: Visibility,
        give_ups: GiveUps,
        solutions: Solutions,
        texts: ProblemTexts,
    ) -> None:
        self._database, self._catalogue, self._visibility = database, catalogue, visibility
        self._give_ups, self._solutions, self._texts = give_ups, solutions, texts

    async def show_to(self, user: User, package: Package) -> Editorial:
        seen = await self._visibility.visible(user, package.slug)
        is_open, gave_up_at = await self.access_of(user, package)
        # Without giving up, it opens only to someone who has solved the problem.
        exam = seen.closes("editorial") or (None if is_open else seen.closes("giving_up"))
        is_open = is_open and exam is None
        prose = (await self._texts.render(package, texts_of(package)["editorial.md"]))[0] if is_open else None
        is_solved = is_open and await self._solutions.accepted_attempt(user, package.slug) is not None
        following = await next_problem(user, self._database, self._catalogue) if is_open else None
        prepared = prepared_by(package.slug, self._catalogue.all())
        others = tuple(each for each in prepared if each is not following)
        return Editorial(package.slug, prose, gave_up_at, exam, is_solved, following, others)

    async def access_of(self, user: User, package: Package) -> tuple[bool, datetime | None]:
        """Whether the editorial is open to the user outside an exam, and when they gave up on the problem."""
        gave_up_at = await self._give_ups.at(user, package.slug)
        standing = (await standings(self._database, user, package.slug)).get(package.slug)
        return gave_up_at is not None or (standing is not None and standing.accepted), gave_up_at
