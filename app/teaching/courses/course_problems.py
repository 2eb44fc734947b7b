"""Problems, and versions of problems, that only the members of one course see: the only writer of their table.

Instructors and owners see them always. A course sees them from the time that it was given, and its students not before
an exam that has them opens.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy import and_, delete, select

from app.accounts.audit.log import LONGEST_DETAIL, record
from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import ProblemNotFound
from app.core.view import View
from app.problems.catalogue_refresh import CatalogueRefresh
from app.problems.models import CourseProblemRow, PublishedRow
from app.problems.package_store import PackageStore
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.exam_pools import ExamPools
from app.teaching.courses.exam_visibility import hidden_by_exams
from app.teaching.courses.models import MemberRow
from app.teaching.courses.service import Course
from app.teaching.courses.staff import manages


class CourseProblem(View):
    """`is_private`: the problem is not published, so nobody but the members of its courses and staff sees it.

    `warning` says what else is public about it.
    """

    problem: str
    version: str
    visible_from: datetime
    is_private: Annotated[bool, Field(serialization_alias="private")]
    warning: str | None


class CourseProblems:
    """The `PrivateProblems` of app/problems/request_viewer.py. Safe to share between requests.

    The routes check that the caller manages the course.
    """

    def __init__(self, database: Database, store: PackageStore, serving: CatalogueRefresh, pools: ExamPools) -> None:
        self._database = database
        self._store = store
        self._serving = serving
        self._pools = pools

    async def of(self, course: Course) -> list[CourseProblem]:
        """By slug."""
        row = CourseProblemRow
        query = (
            select(row.problem, row.version, row.visible_from, PublishedRow.origin)
            .outerjoin(PublishedRow, PublishedRow.slug == row.problem)
            .where(row.course_id == course.id)
            .order_by(row.problem)
        )
        async with self._database.reading() as session:
            return [_view(*each) for each in await session.execute(query)]

    async def give(
        self, user: User, course: Course, problem: str, version: str | None, visible_from: datetime | None
    ) -> CourseProblem:
        """Show this version to the course from a moment on, instead of one that it was given before.

        Args:
          version: None for the one that was uploaded last.
          visible_from: None for now.
        Raises:
          ProblemNotFound: no version of this problem was ever stored.
          VersionNotFound.
        """
        problem = problem.strip()
        version = version or await self._store.latest(problem[:64].replace("\0", ""))
        if version is None:
            raise ProblemNotFound(
                f"No version of the problem {problem[:64]!r} is stored. Upload its package first; do not publish it."
            )
        package = await self._store.version_of(problem, version)
        begins = visible_from or now()
        values = {"version": package.version, "visible_from": begins}
        key = {"course_id": course.id, "problem": package.slug}
        async with self._database.writing() as session:
            insert = insert_into(session, CourseProblemRow).values(**key, **values)
            await session.execute(insert.on_conflict_do_update(index_elements=list(key), set_=values))
            at = to_local(begins, course.time_zone)
            detail = f"{package.slug} {package.version[:12]} to {course.name} from {at:%Y-%m-%dT%H:%M}"
            record(session, user, "problem-given", None, "", detail[:LONGEST_DETAIL], course.id)
        await self._serving.refresh()
        return next(each for each in await self.of(course) if each.problem == package.slug)

    async def take_back(self, user: User, course: Course, problem: str) -> None:
        """Attempts stay. Raises `ProblemNotFound`."""
        row = CourseProblemRow
        async with self._database.writing() as session:
            gone = await session.scalar(
                delete(row)
                .where(row.course_id == course.id, row.problem == problem[:64].replace("\0", ""))
                .returning(row.version)
            )
            if gone is None:
                raise ProblemNotFound(f"This course was given no version of a problem {problem[:64]!r}.")
            detail = f"{problem} {gone[:12]} from {course.name}"
            record(session, user, "problem-taken-back", None, "", detail[:LONGEST_DETAIL], course.id)
        await self._serving.refresh()

    async def warnings(self, problems: Iterable[str]) -> list[str]:
        """What no setting can hide about those of these problems that are published."""
        row = PublishedRow
        query = select(row.slug, row.origin).where(row.slug.in_(list(problems))).order_by(row.slug)
        async with self._database.reading() as session:
            published = (await session.execute(query)).all()
        return [
            warning
            for chosen in ("folder", "upload")
            if (warning := public_warning([slug for slug, origin in published if origin == chosen], chosen))
        ]

    async def seen_by(self, user: User, address: str) -> dict[str, str]:
        """The version of each problem that this user sees because of a course, by slug: of several, the newest."""
        if user.guest is not None:
            return {}
        row = CourseProblemRow
        query = select(row.problem, row.version, row.course_id).order_by(row.visible_from, row.course_id)
        async with self._database.reading() as session:
            if manages(user):
                return {problem: version for problem, version, _ in await session.execute(query)}
            of_user = and_(MemberRow.course_id == row.course_id, MemberRow.user_id == user.id)
            rows = await session.execute(query.join(MemberRow, of_user).where(row.visible_from <= now()))
            hidden = await hidden_by_exams(session, self._pools, user, address)
            return {problem: version for problem, version, course_id in rows if (course_id, problem) not in hidden}


def _view(problem: str, version: str, visible_from: datetime, origin: str | None) -> CourseProblem:
    return CourseProblem(
        problem=problem,
        version=version,
        visible_from=visible_from,
        is_private=origin is None,
        warning=public_warning([problem], origin),
    )


def public_warning(problems: Sequence[str], origin: str | None) -> str | None:
    """What no setting can hide about problems that are published from this origin."""
    if origin is None or not problems:
        return None
    names = " and ".join(each for each in (", ".join(problems[:-1]), problems[-1]) if each)
    if origin == "folder":
        verb = "comes" if len(problems) == 1 else "come"
        return (
            f"{names} {verb} with this service: anyone can read hints, editorial and solutions in the public "
            "repository. For an exam, use a problem that was never published."
        )
    return (
        f"{names} {'is' if len(problems) == 1 else 'are'} published on this service, so anyone can read the statement."
    )
