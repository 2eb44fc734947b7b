"""Validations: an instructor requests one, and reads its steps while it runs. app/authoring/validator.py runs them.

They are in a table and not in memory: if workers grade, the process that receives the request has no judge.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import undefer

from app.authoring.models import ValidationRow
from app.authoring.version_history import require_versions
from app.core.clock import now
from app.core.errors import ValidationNotFound
from app.core.ids import new_id
from app.core.rest.paging import Cursor, Page
from app.core.view import View
from app.grading.owned_work import OwnedWork
from app.grading.queue.fair_share import VALIDATIONS
from app.grading.queue.status import JobStatus
from app.problems.models import PackageRow
from grader.review.validation import ValidationStep


class Validation(View):
    """One validation. `total` is the largest number of steps: if the cases fail, no further step can run.

    `passed` is None until the validation has finished.
    """

    id: str
    slug: str
    version: str
    status: JobStatus
    steps: tuple[ValidationStep, ...]
    total: int
    created_at: datetime
    finished_at: datetime | None

    @property
    def passed(self) -> bool | None:
        if self.status != "finished":
            return None
        return len(self.steps) == self.total and all(each.passed for each in self.steps)

    @property
    def done(self) -> int:
        return len(self.steps)

    @property
    def faults(self) -> int:
        """How many steps did not pass."""
        return sum(not each.passed for each in self.steps)


class Validations(OwnedWork[str, ValidationRow]):
    """The validations of a problem belong to its slug, whichever instructor requested them."""

    rows = ValidationRow

    def owned_by(self, owner: str) -> Sequence[ColumnElement[bool]]:
        return (ValidationRow.version.in_(select(PackageRow.version).where(PackageRow.slug == owner)),)

    def _query(self) -> Select[ValidationRow]:
        return super()._query().options(undefer(ValidationRow.slug))

    def missing(self, owner: str | None, work_id: str) -> ValidationNotFound:
        return ValidationNotFound(f"The problem {(owner or '')[:64]!r} has no validation with the id {work_id!r}.")

    async def request(self, version: str, total: int) -> Validation:
        """Queue a validation of a stored version, unless one is already waiting or running."""
        unfinished = self._query().where(ValidationRow.version == version, ValidationRow.status != "finished")
        async with self._database.writing() as session:
            # Locked, so that the second of two simultaneous requests finds the validation of the first.
            await session.execute(select(PackageRow.version).where(PackageRow.version == version).with_for_update())
            row = await session.scalar(unfinished)
            if row is None:
                fields = {"share": VALIDATIONS, "steps": [], "total": total, "created_at": now()}
                await self._enqueue(session, ValidationRow(id=new_id(), version=version, **fields))
                await session.flush()
                row = (await session.scalars(unfinished)).one()
            return Validation.of(row)

    async def get(self, slug: str, validation_id: str) -> Validation:
        """Raises `ValidationNotFound`, even if it exists for another problem."""
        async with self._database.reading() as session:
            return Validation.of(await self._find(session, slug, validation_id))

    async def latest(self, version: str) -> Validation | None:
        """The latest validation of a version that has finished, or the one that is running if none has."""
        order = (ValidationRow.status != "finished", ValidationRow.created_at.desc())
        query = self._query().where(ValidationRow.version == version).order_by(*order).limit(1)
        async with self._database.reading() as session:
            row = await session.scalar(query)
        return None if row is None else Validation.of(row)

    async def newest(self, most: int) -> list[Validation]:
        """Of all problems: the newest validations, at most `most`, and only the newest of each problem."""
        query = self._query().order_by(ValidationRow.created_at.desc(), ValidationRow.id).limit(most)
        async with self._database.reading() as session:
            found = [Validation.of(each) for each in await session.scalars(query)]
        return list({each.slug: each for each in reversed(found)}.values())[::-1]

    async def list(self, slug: str, cursor: Cursor, version: str | None = None) -> Page[Validation]:
        """The validations of a problem, or of one version, newest first.

        Raises:
          ProblemNotFound.
          ValidationNotFound: for the cursor.
        """
        only = [] if version is None else [ValidationRow.version == version]
        async with self._database.reading() as session:
            await require_versions(session, slug)
            return await self._page(session, slug, cursor, Validation.of, only)
