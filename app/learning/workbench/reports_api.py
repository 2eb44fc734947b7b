"""REST: reported faults, for instructors."""

from typing import Annotated

from fastapi import Query

from app.accounts.web import Instructor
from app.core.rest.actions import Actions
from app.core.rest.paging import NewestFirst
from app.core.services import Provided
from app.learning.workbench.report_schemas import ReportDoneJSON, ReportPage
from app.learning.workbench.reports import FaultReport, FaultReports

actions = Actions("insight")
router = actions.api


@router.get("/reports", summary="Faults that users reported in problems, newest first")
async def list_reports(
    user: Instructor,
    reports: Provided[FaultReports],
    cursor: NewestFirst,
    problem: Annotated[str | None, Query(max_length=64, description="Only of this problem, by its slug")] = None,
    done: Annotated[bool | None, Query(description="Only those that are done, or only those that are not")] = None,
) -> ReportPage:
    found = await reports.page(cursor, problem=problem, is_done=done)
    return ReportPage(reports=found, next=found.next)


@actions.put(
    "/reports/{report_id}",
    form="/reports/{report_id}/done",
    then="/reports",
    summary="Mark a reported fault as done, or open it again",
)
async def mark_report(
    user: Instructor, report_id: str, body: ReportDoneJSON, reports: Provided[FaultReports]
) -> FaultReport:
    await reports.mark(report_id, is_done=body.done)
    return await reports.get(report_id)
