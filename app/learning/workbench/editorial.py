"""The editorial of a problem, which opens to anyone who has solved it or given up on it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select

from app.accounts.caller import User
from app.core.database import Database, select_rows
from app.core.prepared_select import PreparedSelect
from app.core.web.markdown import Prose
from app.grading.attempts.models import GiveUpRow
from app.grading.attempts.next_problem import next_problem, prepared_by
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
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


@dataclass(frozen=True, slots=True)
class Access:
    """The editorial `is_open` if an attempt that counts was accepted, or after giving up. The problem `is_solved` if
    any attempt was accepted, even after giving up.
    """

    is_open: bool
    is_solved: bool
    gave_up_at: datetime | None


# In one statement, and built once: every problem page needs it.
_ACCESS = PreparedSelect(
    select(
        select(GiveUpRow.at)
        .where(GiveUpRow.user_id == bindparam("user_id"), GiveUpRow.problem == bindparam("problem"))
        .scalar_subquery(),
        func.count(),
        func.count(AttemptRow.score),
    ).where(
        AttemptRow.user_id == bindparam("user_id"),
        AttemptRow.problem == bindparam("problem"),
        AttemptRow.kind == "attempt",
        AttemptRow.verdict_status == "accepted",
    )
)


class Editorials:
    """Safe to share between requests."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        visibility: Visibility,
        texts: ProblemTexts,
    ) -> None:
        self._database, self._catalogue, self._visibility = database, catalogue, visibility
        self._texts = texts

    async def show_to(self, user: User, package: Package) -> Editorial:
        seen = await self._visibility.visible(user, package.slug)
        access = await self.access_of(user, package)
        # Without giving up, it opens only to someone who has solved the problem.
        exam = seen.closes("editorial") or (None if access.is_open else seen.closes("giving_up"))
        is_open = access.is_open and exam is None
        prose = (await self._texts.render(package, texts_of(package)["editorial.md"]))[0] if is_open else None
        is_solved = is_open and access.is_solved and seen.closes("solutions") is None
        following = await next_problem(user, self._database, self._catalogue) if is_open else None
        prepared = prepared_by(package.slug, self._catalogue.all())
        others = tuple(each for each in prepared if each is not following)
        return Editorial(package.slug, prose, access.gave_up_at, exam, is_solved, following, others)

    async def access_of(self, user: User, package: Package) -> Access:
        """What of the editorial is open to the user outside an exam."""
        async with self._database.reading() as session:
            shown = await shown_only(session, user_id=user.id, problem=package.slug)
            row = (
                await select_rows(session, _ACCESS.where(*shown), {"user_id": user.id, "problem": package.slug})
            ).one()
        gave_up_at, accepted, scored = row
        return Access(gave_up_at is not None or scored > 0, accepted > 0, gave_up_at)
