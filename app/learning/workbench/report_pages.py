"""The form that reports a fault in a problem, and the list that instructors read."""

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor, Reader, Submitter
from app.core.errors import Refused
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.learning.workbench.reports import LONGEST, FaultReports
from app.problems.catalogue import Catalogue
from grader.package.package import Package

router = PageRouter()


@router.get("/problems/{slug}/report")
async def show_form(request: Request, slug: str, user: Reader, catalogue: Provided[Catalogue]) -> HTMLResponse:
    package = catalogue.get(slug)
    return _form(package, user, is_sent="sent" in request.query_params)


@router.post("/problems/{slug}/report")
async def report_fault(
    request: Request, slug: str, user: Submitter, catalogue: Provided[Catalogue], reports: Provided[FaultReports]
) -> Response:
    package = catalogue.get(slug)
    # Percent-encoding turns one character into at most twelve bytes.
    form = await read_form(request, max_bytes=12 * LONGEST + 1024)
    text = form.get("text", "")
    try:
        await reports.add(user, package.slug, text)
    except Refused as refusal:
        return _form(package, user, text=text, refusal=refusal)
    return RedirectResponse(f"/problems/{package.slug}/report?sent=1", status_code=303)


@router.get("/reports")
async def list_reports(
    user: Instructor, catalogue: Provided[Catalogue], reports: Provided[FaultReports]
) -> HTMLResponse:
    titles = catalogue.titles()
    return render_page("reports.html", user=user, reports=await reports.open_first(), titles=titles)


def _form(
    package: Package, user: User, *, is_sent: bool = False, text: str = "", refusal: Refused | None = None
) -> HTMLResponse:
    return render_page(
        "report.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        problem=package,
        is_sent=is_sent,
        text=text,
        longest=LONGEST,
        refusal=refusal,
    )
