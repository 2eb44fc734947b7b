"""Faults in problems: reported by users, read by instructors. The only writer of that table."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy import select, update

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.errors import FieldInvalid, ReportNotFound, TooManyReports
from app.core.ids import is_id, new_id
from app.core.limits import DAY, Limit, count
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.grading.attempts.source_rules import check_text
from app.learning.workbench.models import FaultReportRow
from app.problems.catalogue import Catalogue

LONGEST = 4000
_REPORTS_A_DAY = Limit(
    "fault reports", DAY, 10, TooManyReports, "You have sent {most} reports within a day. Send this one tomorrow."
)
_MOST_LISTED = 200


class FaultReport(View):
    """A fault that `user` reported in a version of a problem. `done_at` is null while it is open."""

    id: str
    problem: str
    version: str
    text: str
    created_at: datetime
    done_at: datetime | None
    name: Annotated[str, Field(serialization_alias="user")]


_REPORTS = select(
    FaultReportRow.id,
    FaultReportRow.problem,
    FaultReportRow.version,
    FaultReportRow.text,
    FaultReportRow.created_at,
    FaultReportRow.done_at,
    UserRow.name,
).join(UserRow, UserRow.id == FaultReportRow.user_id)


class FaultReports:
    """Safe to share between requests."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue

    async def add(self, user: User, slug: str, text: str) -> None:
        """Report a fault in the served version of a problem.

        Raises:
          ProblemNotFound.
          FieldInvalid: there is no text, or too much.
          SourceRefused: it is not text.
          TooManyReports: this user has sent ten within a day.
        """
        package = self._catalogue.get(slug)
        text = text.strip()
        if not text or len(text) > LONGEST:
            raise FieldInvalid(f"text: say what is wrong, in 1 to {LONGEST} characters.")
        check_text(text, 4 * LONGEST)
        row = FaultReportRow
        async with self._database.writing() as session:
            await count(session, (_REPORTS_A_DAY, user.id))
            session.add(
                row(
                    id=new_id(),
                    user_id=user.id,
                    problem=package.slug,
                    version=package.version,
                    text=text,
                    created_at=now(),
                )
            )

    async def open_first(self) -> list[FaultReport]:
        """The reports of all users: open ones first, then the newest."""
        row = FaultReportRow
        query = _REPORTS.order_by(row.done_at.is_not(None), row.created_at.desc(), row.id).limit(_MOST_LISTED)
        async with self._database.reading() as session:
            return [FaultReport.of_columns(*each) for each in await session.execute(query)]

    async def page(
        self, cursor: Cursor, *, problem: str | None = None, is_done: bool | None = None
    ) -> Page[FaultReport]:
        """Newest first. Raises `ReportNotFound` for the cursor."""
        row = FaultReportRow
        only = [] if problem is None else [row.problem == problem.replace("\0", "")]
        if is_done is not None:
            only.append(row.done_at.is_not(None) if is_done else row.done_at.is_(None))
        async with self._database.reading() as session:
            by = (row.created_at, row.id)
            return await paged(session, _REPORTS, by, cursor, FaultReport.of_columns, only=only, missing=_not_found)

    async def get(self, report_id: str) -> FaultReport:
        """Raises `ReportNotFound`."""
        found = None
        if is_id(report_id):
            async with self._database.reading() as session:
                found = (await session.execute(_REPORTS.where(FaultReportRow.id == report_id))).first()
        if found is None:
            raise _not_found(report_id)
        return FaultReport.of_columns(*found)

    async def mark(self, report_id: str, *, is_done: bool) -> None:
        """Raises `ReportNotFound`."""
        row, found = FaultReportRow, None
        if is_id(report_id):
            async with self._database.writing() as session:
                moment = now() if is_done else None
                found = await session.scalar(
                    update(row).where(row.id == report_id).values(done_at=moment).returning(row.id)
                )
        if found is None:
            raise _not_found(report_id)


def _not_found(report_id: str) -> ReportNotFound:
    return ReportNotFound(f"There is no report with the id {report_id[:64]!r}.")
