"""The page that checks and imports a roster. It works in two steps: first what each row would do, then the import."""

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from app.accounts.caller import User
from app.accounts.web import Grader, site_address
from app.core.errors import FieldInvalid, Refused
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_secret_page
from app.teaching.courses.course_in_path import CourseForRoster
from app.teaching.courses.roster import Roster, Rosters
from app.teaching.courses.roster_file import LONGEST_ROSTER
from app.teaching.courses.roster_links import RosterLinks
from app.teaching.courses.safe_csv import csv_download
from app.teaching.courses.service import Course

router = PageRouter("/courses/{course_id}/roster")
# As a form sends it, a character may take nine bytes.
_LARGEST_FORM = 9 * LONGEST_ROSTER


@router.get("")
async def show_roster(course: CourseForRoster, user: Grader) -> HTMLResponse:
    return _page(user, course, "")


@router.post("")
async def import_roster(
    request: Request, course: CourseForRoster, user: Grader, rosters: Provided[Rosters], shown: Provided[RosterLinks]
) -> Response:
    form = await read_form(request, max_bytes=_LARGEST_FORM)
    text, step = form.get("csv", ""), form.get("step", "check")
    try:
        if len(text) > LONGEST_ROSTER:
            raise FieldInvalid(f"csv: the roster has more than {LONGEST_ROSTER} characters. Split it.")
        if step == "check":
            return _page(user, course, text, await rosters.check(user, course, text))
        roster = await rosters.apply(user, course, text)
    except Refused as refusal:
        return _page(user, course, text, refusal=refusal)
    site = site_address(request)
    links = [
        (each.row.name, each.row.email, shown.link(site, course.id, each.invitation_id))
        for each in roster.entries
        if each.invitation_id
    ]
    if step == "download" and roster.imported:
        return csv_download("invitations.csv", [("name", "email", "link"), *links])
    return _page(user, course, "" if roster.imported else text, roster, links=links)


def _page(
    user: User,
    course: Course,
    text: str,
    roster: Roster | None = None,
    refusal: Refused | None = None,
    links: list[tuple[str, str, str]] | None = None,
) -> HTMLResponse:
    return render_secret_page(
        "roster.html",
        refusal=refusal,
        user=user,
        course=course,
        text=text,
        roster=roster,
        links=links or [],
    )
