"""The problem to solve next: the one rule for verdicts, editorials, the catalogue and the page of progress."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.accounts.caller import User
from app.core.database import Database
from app.grading.attempts.progress import Progress, progress
from app.problems.catalogue import Catalogue
from grader.package.package import Package


@dataclass(frozen=True, slots=True)
class NextStops:
    """`going_on` was tried last of those that are neither solved nor given up, and `up_next` is the first to begin.

    `stop` is the one to name if a page names only one.
    """

    going_on: Package | None
    up_next: Package | None
    stop: Package | None


def next_stops(packages: Sequence[Package], reached: Mapping[str, Progress]) -> NextStops:
    """What to solve next.

    Begin after the problem that was worked on last, in the order of the curriculum, and then from its start. A problem
    can begin if each of its served prerequisites is solved or given up. If the one worked on last is not over, that is
    the next stop.

    Args:
      packages: what is served, in the order of the curriculum.
      reached: the user's progress by slug.
    """
    by_slug = {package.slug: package for package in packages}
    tried = sorted((slug for slug in reached if slug in by_slug), key=lambda slug: reached[slug].last_at)
    missing = {slug for slug in by_slug if slug not in reached or not reached[slug].is_over}
    going_on = next((by_slug[slug] for slug in reversed(tried) if slug in missing), None)
    last = tried[-1] if tried else None
    at = [package.slug for package in packages].index(last) + 1 if last else 0
    ordered = [each for each in (*packages[at:], *packages[:at]) if each.slug in missing and each is not going_on]
    up_next = next((each for each in ordered if missing.isdisjoint(each.manifest.prerequisites)), None)
    goes_on = up_next is None or (going_on is not None and going_on.slug == last)
    return NextStops(going_on, up_next, going_on if goes_on else up_next)


async def next_problem(user: User, database: Database, catalogue: Catalogue) -> Package | None:
    """The next stop of a user, as the catalogue names it."""
    packages = [package for section in catalogue.listed() for package in section.packages]
    return next_stops(packages, await progress(database, user)).stop


def prepared_by(slug: str, packages: Iterable[Package]) -> list[Package]:
    """The problems that have this one among their prerequisites."""
    return [each for each in packages if slug in each.manifest.prerequisites]
