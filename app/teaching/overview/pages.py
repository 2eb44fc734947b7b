"""Where those who teach and those who run the service begin: what needs them now."""

from typing import Annotated

from fastapi import Depends
from starlette.responses import HTMLResponse

from app.accounts.audit.log import ACTION_WORDS, AuditLog
from app.accounts.invitations import Invitations
from app.accounts.web import Grader, Owner
from app.authoring.validations import Validations
from app.core.clock import now
from app.core.database import Database
from app.core.errors import RoleMissing
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.templating import render_page
from app.learning.workbench.reports import FaultReports
from app.operations.operating.service_state import ServiceState, read_state
from app.operations.operating.storage import read_storage
from app.operations.webhooks.service import Webhooks
from app.problems.catalogue import Catalogue
from app.teaching.courses.deadlines import RECENTLY, Deadline, Deadlines
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.service import Courses
from app.teaching.courses.staff import manages
from app.teaching.lti.platforms import Platforms
from app.teaching.overview.stuck_people import StuckPeople
from app.teaching.rejudging.service import Rejudging

router = PageRouter()
_MOST = 5
_RECENT_VALIDATIONS = 20


@router.get("/teach")
async def show_teaching(
    user: Grader,
    catalogue: Provided[Catalogue],
    courses: Provided[Courses],
    deadlines: Provided[Deadlines],
    stuck: Provided[StuckPeople],
    reports: Provided[FaultReports],
    rejudging: Provided[Rejudging],
    validations: Provided[Validations],
    audit: Provided[AuditLog],
) -> HTMLResponse:
    """Instructors see the courses that they teach and what waits for them, assistants the courses that they assist."""
    is_manager = manages(user)
    if not is_manager and not await courses.assists_any(user):
        raise RoleMissing("Only instructors and the assistants of a course have this page.")
    taught = [each for each in await courses.visible_to(user) if each.is_taught or each.is_assisted]
    due = await deadlines.near(user)
    moment = now()
    return render_page(
        "teaching/overview/teach.html",
        user=user,
        manages=is_manager,
        courses=taught,
        titles=catalogue.titles(),
        due=due,
        is_over=lambda due_at: is_over(due_at, moment),
        stuck=await stuck.list(user),
        reports=await reports.page(Cursor(_MOST), is_done=False) if is_manager else None,
        rejudges=await rejudging.open(_MOST) if is_manager else [],
        validations=[each for each in await validations.newest(_RECENT_VALIDATIONS) if not each.passed]
        if is_manager
        else [],
        unread=await _not_compared(due, catalogue, audit) if is_manager else [],
    )


async def _not_compared(due: list[Deadline], catalogue: Catalogue, audit: AuditLog) -> list[tuple[Deadline, str]]:
    """The problems of closed assignments whose similarity report nobody has read since. Answers have none."""
    moment = now()
    compared = {each.slug for each in catalogue.all() if each.manifest.mode != "answer"}
    # A report of one course counts for all.
    read = {each.split(",")[0] for each in await audit.details("similarity-read", moment - RECENTLY)}
    return [
        (each, problem)
        for each in due
        if is_over(each.due_at, moment) and each.submitted > 1
        for problem in each.problems
        if problem in compared and problem not in read
    ]


@router.get("/admin")
async def show_administration(
    user: Owner,
    state: Annotated[ServiceState, Depends(read_state)],
    database: Provided[Database],
    settings: Provided[Settings],
    webhooks: Provided[Webhooks],
    platforms: Provided[Platforms],
    invitations: Provided[Invitations],
    audit: Provided[AuditLog],
) -> HTMLResponse:
    return render_page(
        "teaching/overview/admin.html",
        user=user,
        state=state,
        storage=await read_storage(database, settings),
        failing={
            "Webhooks": await webhooks.failing(),
            "Scores to learning platforms": await platforms.failing_scores(),
        },
        invitations=await invitations.count_unused(),
        entries=await audit.list(Cursor(_MOST)),
        words=ACTION_WORDS,
    )
