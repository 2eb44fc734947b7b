"""Validations: an instructor requests one, and reads its steps while it runs. app/authoring/validator.py runs them.

They are in a table and not in memory: if workers grade, the process that receives the request has no judge.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import select

from app.authoring.models import ValidationRow
from app.authoring.version_history import require_versions
from app.core.clock import now
from app.core.database import Database
from app.core.errors import ValidationNotFound
from app.core.ids import is_id, new_id
from app.core.rest.paging import Cursor, Page, paged
from app.grading.queue.fair_share import VALIDATIONS, line_up
from app.grading.queue.protocol import Enqueue
from app.problems.models import PackageRow
from grader.review.validation import ValidationStep

ValidationStatus = Literal["queued", "running", "finished"]


@dataclass(frozen=True, slots=True)
class Validation:
    """One validation. `total` is the largest number of steps: if the cases fail, no further step can run.

    `passed` is None until the validation has finished.
    """

    id: str
    slug: str
    version: str
    status: ValidationStatus
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


_COLUMNS = (
    ValidationRow.id,
    PackageRow.slug,
    ValidationRow.version,
    ValidationRow.status,
    ValidationRow.steps,
    ValidationRow.total,
    ValidationRow.created_at,
    ValidationRow.finished_at,
)
_VALIDATIONS = select(*_COLUMNS).join(PackageRow, PackageRow.version == ValidationRow.version)


class Validations:
    """Safe to share between requests. `enqueue` is the queue's."""

    def __init__(self, database: Database, enqueue: Enqueue = line_up) -> None:
        self._database = database
        self._enqueue = enqueue

    async def request(self, version: str, total: int) -> Validation:
        """Queue a validation of a stored version, unless one is already waiting or running."""
        unfinished = _VALIDATIONS.where(ValidationRow.version == version, ValidationRow.status != "finished")
        async with self._database.writing() as session:
            # Locked, so that the second of two simultaneous requests finds the validation of the first.
            await session.execute(select(PackageRow.version).where(PackageRow.version == version).with_for_update())
            row = (await session.execute(unfinished)).first()
            if row is None:
                fields = {"share": VALIDATIONS, "steps": [], "total": total, "created_at": now()}
                await self._enqueue(session, ValidationRow(id=new_id(), version=version, **fields))
                await session.flush()
                row = (await session.execute(unfinished)).one()
        return _validation(*row)

    async def get(self, slug: str, validation_id: str) -> Validation:
        """Raises `ValidationNotFound`, even if it exists for another problem."""
        row = None
        if is_id(validation_id):
            async with self._database.reading() as session:
                row = (await session.execute(_VALIDATIONS.where(ValidationRow.id == validation_id))).first()
        if row is None or row.slug != slug:
            raise _not_found(slug, validation_id)
        return _validation(*row)

    async def latest(self, version: str) -> Validation | None:
        """The latest validation of a version that has finished, or the one that is running if none has."""
        unfinished = ValidationRow.status != "finished"
        query = (
            _VALIDATIONS.where(ValidationRow.version == version)
            .order_by(unfinished, ValidationRow.created_at.desc())
            .limit(1)
        )
        async with self._database.reading() as session:
            row = (await session.execute(query)).first()
        return None if row is None else _validation(*row)

    async def newest(self, most: int) -> list[Validation]:
        """Of all problems: the newest validations, at most `most`, and only the newest of each problem."""
        query = _VALIDATIONS.order_by(ValidationRow.created_at.desc(), ValidationRow.id).limit(most)
        async with self._database.reading() as session:
            found = [_validation(*each) for each in await session.execute(query)]
        return list({each.slug: each for each in reversed(found)}.values())[::-1]

    async def list(self, slug: str, cursor: Cursor, version: str | None = None) -> Page[Validation]:
        """The validations of a problem, or of one version, newest first.

        Raises:
          ProblemNotFound.
          ValidationNotFound: for the cursor.
        """
        row = ValidationRow
        only = [] if version is None else [row.version == version]
        query, by = _VALIDATIONS.where(PackageRow.slug == slug), (row.created_at, row.id)
        async with self._database.reading() as session:
            await require_versions(session, slug)
            return await paged(
                session, query, by, cursor, _validation, only=only, missing=lambda each: _not_found(slug, each)
            )


def _validation(
    validation_id: str,
    slug: str,
    version: str,
    status: ValidationStatus,
    steps: list[dict[str, Any]],
    total: int,
    created_at: datetime,
    finished_at: datetime | None,
) -> Validation:
    done = tuple(ValidationStep(**each) for each in steps)
    return Validation(validation_id, slug, version, status, done, total, created_at, finished_at)


def _not_found(slug: str, validation_id: str) -> ValidationNotFound:
    return ValidationNotFound(f"The problem {slug[:64]!r} has no validation with the id {validation_id[:64]!r}.")
