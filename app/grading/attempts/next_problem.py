"""The problem to solve next after one is solved."""

from collections.abc import Iterable, Sequence

from app.accounts.caller import User
from app.core.database import Database
from app.grading.attempts.progress import progress
from app.problems.catalogue import Catalogue
from grader.package.package import Package


async def next_problem(user: User, database: Database, catalogue: Catalogue, slug: str) -> Package | None:
    """The first one after `slug` in the curriculum that the user can begin, then the first before it."""
    reached = await progress(database, user)
    over = {name for name, each in reached.items() if each.is_over}
    packages = [package for section in catalogue.sections() for package in section.packages]
    return _first_open(packages, slug, over)


def prepared_by(slug: str, packages: Iterable[Package]) -> list[Package]:
    """The problems that have this one among their prerequisites."""
    return [each for each in packages if slug in each.manifest.prerequisites]


def _first_open(packages: Sequence[Package], slug: str, over: set[str]) -> Package | None:
    """A problem is open if each of its served prerequisites is solved or given up."""
    slugs = [package.slug for package in packages]
    at = slugs.index(slug) + 1 if slug in slugs else 0
    missing = set(slugs) - over - {slug}
    ordered = (*packages[at:], *packages[:at])
    return next(
        (each for each in ordered if each.slug in missing and missing.isdisjoint(each.manifest.prerequisites)), None
    )
