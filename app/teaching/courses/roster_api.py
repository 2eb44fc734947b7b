"""REST: check and import a roster."""

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field

from app.accounts.web import Grader, site_address
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import MaxBytes, RestRouter
from app.core.services import Provided
from app.core.view import View
from app.teaching.courses.course_in_path import CourseForRoster
from app.teaching.courses.roster import Outcome, Rosters
from app.teaching.courses.roster_file import LONGEST_ROSTER
from app.teaching.courses.roster_links import RosterLinks

router = RestRouter("courses")


class RosterJSON(RequestBody):
    """`csv` begins with a row of column names, such as `name`, `email`, `student number` and `section`. Exports of
    Canvas and Moodle can be sent as they are. `import` false only checks it.
    """

    csv: str = Field(max_length=LONGEST_ROSTER)
    is_import: bool = Field(False, alias="import")


class RosterEntryJSON(View):
    """What an import does with a row: `enrol` if the person has an account, otherwise `invite`.

    `invited`: the person was invited before and has not signed up. `member` needs nothing more. `skip` and `fault`:
    `detail` says why, and `warning` what looks wrong. `url` is the link of the invitation.
    """

    row: int
    username: str
    name: str
    email: str
    student_number: str
    section: str
    outcome: Outcome
    detail: str
    warning: str
    url: str | None


class ImportedRosterJSON(View):
    """`imported` is false if you only checked, or if a row has a fault: then nothing was imported."""

    imported: bool
    rows: list[RosterEntryJSON]


@router.post(
    "/courses/{course_id}/roster",
    summary="Check or import a roster, all or nothing, as an instructor or with the right roster",
    responses=problem_responses(409),
)
async def import_roster(
    request: Request,
    response: Response,
    course: CourseForRoster,
    user: Grader,
    body: Annotated[RosterJSON, MaxBytes(12 * LONGEST_ROSTER + 1024)],
    rosters: Provided[Rosters],
    links: Provided[RosterLinks],
) -> ImportedRosterJSON:
    do = rosters.apply if body.is_import else rosters.check
    roster = await do(user, course, body.csv)
    site = site_address(request)
    response.headers["Cache-Control"] = "no-store"
    return ImportedRosterJSON(
        imported=roster.imported,
        rows=[
            RosterEntryJSON.read_from(
                each.row,
                row=each.row.number,
                outcome=each.outcome,
                detail=each.detail,
                url=links.link(site, course.id, each.invitation_id) if each.invitation_id else None,
            )
            for each in roster.entries
        ],
    )
