"""REST: reported faults, for instructors."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.accounts.caller import User
from app.accounts.web import require_role
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of
from app.workbench.report_schemas import ReportDoneJSON, ReportJSON, ReportPage
from app.workbench.services import WorkbenchServices

router = APIRouter(tags=["insight"])
Instructor = Annotated[User, Depends(require_role("instructor"))]


@router.get(
    "/reports",
    summary="Faults that users reported in problems, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_reports(
    request: Request,
    user: Instructor,
    problem: Annotated[str | None, Query(max_length=64, description="Only of this problem, by its slug")] = None,
    done: Annotated[bool | None, Query(description="Only those that are done, or only those that are not")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> ReportPage:
    found = await services_of(request, WorkbenchServices).reports.page(limit + 1, before, problem=problem, is_done=done)
    return ReportPage(
        reports=[ReportJSON.of(each) for each in found[:limit]],
        next=found[limit - 1].id if len(found) > limit else None,
    )


@router.put(
    "/reports/{report_id}",
    summary="Mark a reported fault as done, or open it again",
    responses=problem_responses(400, 401, 403, 404, 413, 415, 422),
    openapi_extra=body_of(ReportDoneJSON),
)
async def mark_report(request: Request, user: Instructor, report_id: str) -> ReportJSON:
    body = await read_json(request, ReportDoneJSON)
    reports = services_of(request, WorkbenchServices).reports
    await reports.mark(report_id, is_done=body.done)
    return ReportJSON.of(await reports.get(report_id))
