"""The form that reports a fault in a problem, and the list that instructors read."""

from dataclasses import dataclass

from starlette.responses import HTMLResponse, Response

from app.accounts.web import Instructor, Reader, Submitter
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.web.templating import render_list, render_page
from app.learning.workbench.reports import LONGEST, FaultReports
from app.problems.catalogue import Catalogue


class NewReport(RequestBody):
    """`FaultReports` says what is wrong with a text, an empty one included."""

    text: str = ""


@dataclass(frozen=True)
class ReportPage(FormPage):
    """The form, with the text that was refused or with thanks for the one that was sent."""

    slug: str
    user: Reader
    catalogue: Provided[Catalogue]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return self.show(text=typed["text"], refusal=refusal)

    def show(self, *, is_sent: bool = False, text: str = "", refusal: Refused | None = None) -> HTMLResponse:
        return render_page(
            "learning/workbench/report.html",
            user=self.user,
            problem=self.catalogue.get(self.slug),
            is_sent=is_sent,
            text=text,
            longest=LONGEST,
            refusal=refusal,
        )


actions = Actions("insight", ReportPage)
_PATH = "/problems/{slug}/report"


@actions.pages.get(_PATH)
async def show_form(page: PageOf[ReportPage], sent: str | None = None) -> HTMLResponse:
    return page.show(is_sent=sent is not None)


# Percent-encoding turns one character into at most twelve bytes.
@actions.form(_PATH, then=f"{_PATH}?sent=1", max_bytes=MaxBytes(12 * LONGEST + 1024))
async def report_fault(slug: str, user: Submitter, body: NewReport, reports: Provided[FaultReports]) -> None:
    await reports.add(user, slug, body.text)


@actions.pages.get("/reports")
async def list_reports(user: Instructor, catalogue: Provided[Catalogue], reports: Provided[FaultReports]) -> Response:
    return render_list(
        "learning/workbench/reports.html",
        user=user,
        catalogue=catalogue.seen,
        reports=await reports.open_first(),
        more=lambda: {"titles": catalogue.titles()},
    )
