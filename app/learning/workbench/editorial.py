"""The editorial of a problem, which opens to anyone who has solved it or given up on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.accounts.caller import User
from app.core.database import Database
from app.core.services import Services
from app.core.web.markdown import Prose
from app.grading.attempts.give_up import GiveUps
from app.grading.attempts.next_problem import next_problem, prepared_by
from app.grading.attempts.progress import standings
from app.learning.workbench.solutions import accepted_attempt
from app.problems.catalogue import Catalogue
from app.problems.exams import OpenExam
from app.problems.rendered_texts import RenderedTexts, texts_of
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


async def show_to(user: User, services: Services, package: Package) -> Editorial:
    seen = await services[Visibility].visible(user, package.slug)
    is_open, gave_up_at = await access_of(user, services, package)
    # Without giving up, it opens only to someone who has solved the problem.
    exam = seen.closes("editorial") or (None if is_open else seen.closes("giving_up"))
    is_open = is_open and exam is None
    prose = (await render(services, package, texts_of(package)["editorial.md"]))[0] if is_open else None
    is_solved = is_open and await accepted_attempt(user, services, package.slug) is not None
    following = await next_problem(user, services, package.slug) if is_open else None
    others = tuple(each for each in prepared_by(package.slug, services[Catalogue].all()) if each is not following)
    return Editorial(package.slug, prose, gave_up_at, exam, is_solved, following, others)


async def access_of(user: User, services: Services, package: Package) -> tuple[bool, datetime | None]:
    """Whether the editorial is open to the user outside an exam, and when they gave up on the problem."""
    gave_up_at = await services[GiveUps].at(user, package.slug)
    standing = (await standings(services[Database], user, package.slug)).get(package.slug)
    return gave_up_at is not None or (standing is not None and standing.accepted), gave_up_at


async def render(services: Services, package: Package, texts: Mapping[str, str]) -> list[Prose]:
    """Texts of the package by the prefix of their anchors, with links to its figures and to other problems."""
    others = {each.slug: each.manifest.title for each in services[Catalogue].all() if each is not package}
    figures = f"/problems/{package.slug}/figures"
    return await services[RenderedTexts].show(texts, figures, others, package.figures)
