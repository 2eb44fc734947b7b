"""The one place that says what a caller sees of a problem now: which version, and what of it an open exam closes.

Which version it is follows from the catalogue, which knows the caller of the request (app/problems/viewer.py).
"""

from dataclasses import dataclass

from app.accounts.caller import User
from app.core.errors import ExamOpen
from app.problems.catalogue import Catalogue
from app.problems.exams import Exams, OpenExam, Part
from app.problems.package_store import PackageStore
from app.problems.viewer import viewer
from grader.package.package import Package


@dataclass(frozen=True, slots=True)
class Visible:
    """A problem as one caller sees it now. `exam` is what closes parts of it."""

    package: Package
    exam: OpenExam | None

    def closes(self, *parts: Part) -> OpenExam | None:
        """The exam that closes one of these parts, if there is one."""
        return self.exam if self.exam and any(self.exam.closes(each) for each in parts) else None

    def require(self, part: Part) -> Package:
        """The problem. Raises `ExamOpen` if an exam closes this part."""
        if (exam := self.closes(part)) is not None:
            exam.refuse(self.package.slug)
        return self.package


class Visibility:
    """Safe to share between requests."""

    def __init__(self, catalogue: Catalogue, exams: Exams, store: PackageStore) -> None:
        self._catalogue = catalogue
        self._exams = exams
        self._store = store

    async def visible(self, user: User | None, slug: str) -> Visible:
        """Raises `ProblemNotFound` for a problem that this caller does not see, too."""
        package = self._catalogue.get(slug)
        return Visible(package, await self._exams.open(user, package.slug))

    async def closed(self, user: User | None, slug: str, *parts: Part) -> OpenExam | None:
        """The exam that closes one of these parts, also of a problem that is no longer served."""
        exam = await self._exams.open(user, slug)
        return exam if exam and any(exam.closes(each) for each in parts) else None

    async def hides(self, slug: str, version: str) -> bool:
        """Whether this version was never published, and the caller does not see its problem. What others share about
        it is then hidden, too, even once no course has it.
        """
        seen = viewer()
        if seen.is_staff or slug in seen.private or self._catalogue.published_version(slug) == version:
            return False
        return await self._store.is_unpublished(slug, version)

    async def require_explorer(self, user: User | None, slug: str | None) -> None:
        """Raises `ExamOpen` if the caller must not explore now: this problem, or anything if `slug` is None."""
        if slug is not None and (exam := await self.closed(user, slug, "explorer")) is not None:
            exam.refuse(slug)
        if (exam := await self._exams.without_explorer(user)) is not None:
            raise ExamOpen(
                f"The Explorer is closed to you until {exam.end}, because {exam.whose} closes it.",
                open_until=exam.until.isoformat(),
            )
