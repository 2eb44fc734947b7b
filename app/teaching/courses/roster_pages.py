"""The page that checks and imports a roster. It works in two steps: first what each row would do, then the import."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Grader, site_address
from app.core.errors import FieldInvalid, Refused
from app.core.rest.actions import AS_TYPED, Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.web.templating import render_secret_page
from app.teaching.courses.course_in_path import CourseForRoster
from app.teaching.courses.roster import Roster, Rosters
from app.teaching.courses.roster_file import LONGEST_ROSTER
from app.teaching.courses.roster_links import RosterLinks
from app.teaching.courses.safe_csv import csv_download

# As a form sends it, a character may take nine bytes.
_LARGEST_FORM = MaxBytes(9 * LONGEST_ROSTER)


class RosterForm(RequestBody):
    csv: Annotated[str, AS_TYPED] = ""
    step: Literal["check", "import", "download"] = "check"


@dataclass(frozen=True)
class RosterPage(FormPage):
    course: CourseForRoster
    user: Grader

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return self.show(typed["csv"], refusal=refusal)

    def show(
        self,
        text: str,
        roster: Roster | None = None,
        refusal: Refused | None = None,
        links: list[tuple[str, str, str]] | None = None,
    ) -> HTMLResponse:
        return render_secret_page(
            "teaching/courses/roster.html",
            refusal=refusal,
            user=self.user,
            course=self.course,
            text=text,
            roster=roster,
            links=links or [],
        )


actions = Actions("courses", RosterPage, "/courses/{course_id}/roster")


@actions.pages.get("")
async def show_roster(page: PageOf[RosterPage]) -> HTMLResponse:
    return page.show("")


@actions.form("", max_bytes=_LARGEST_FORM)
async def import_roster(
    request: Request,
    course: CourseForRoster,
    user: Grader,
    body: RosterForm,
    rosters: Provided[Rosters],
    shown: Provided[RosterLinks],
    page: PageOf[RosterPage],
) -> Response:
    text = body.csv
    if len(text) > LONGEST_ROSTER:
        raise FieldInvalid(f"csv: the roster has more than {LONGEST_ROSTER} characters. Split it.")
    if body.step == "check":
        return page.show(text, await rosters.check(user, course, text))
    roster = await rosters.apply(user, course, text)
    site = site_address(request)
    links = [
        (each.row.name, each.row.email, shown.link(site, course.id, each.invitation_id))
        for each in roster.entries
        if each.invitation_id
    ]
    if body.step == "download" and roster.imported:
        return csv_download("invitations.csv", [("name", "email", "link"), *links])
    return page.show("" if roster.imported else text, roster, links=links)
