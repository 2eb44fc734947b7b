"""REST: check and import a roster."""

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field

from app.accounts.web import Instructor
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import MaxBytes, rest_router
from app.core.services import Provided
from app.core.view import View
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.roster import Outcome, Rosters
from app.teaching.courses.roster_file import LONGEST_ROSTER
from app.teaching.courses.roster_links import invitation_link

router = rest_router("courses")


class RosterJSON(RequestBody):
    """`csv` begins with a row of column names: `username`, `name` and `email`. `import` false only checks it."""

    csv: str = Field(max_length=LONGEST_ROSTER)
    is_import: bool = Field(False, alias="import")


class RosterEntryJSON(View):
    """What an import does with a row: `enrol` if the person has an account, otherwise `invite`.

    `member` and `invited` need nothing more. `fault`: `detail` says what to correct. `url` is the link of a new
    invitation, and is shown only here.
    """

    row: int
    username: str
    name: str
    email: str
    outcome: Outcome
    detail: str
    url: str | None


class ImportedRosterJSON(View):
    """`imported` is false if you only checked, or if a row has a fault: then nothing was imported."""

    imported: bool
    rows: list[RosterEntryJSON]


@router.post(
    "/courses/{course_id}/roster",
    summary="Check or import a roster, as an instructor: all of it, or nothing while a row has a fault",
    responses=problem_responses(409),
)
async def import_roster(
    request: Request,
    response: Response,
    course: TaughtCourse,
    user: Instructor,
    body: Annotated[RosterJSON, MaxBytes(12 * LONGEST_ROSTER + 1024)],
    rosters: Provided[Rosters],
) -> ImportedRosterJSON:
    do = rosters.apply if body.is_import else rosters.check
    roster = await do(user, course, body.csv)
    response.headers["Cache-Control"] = "no-store"
    return ImportedRosterJSON(
        imported=roster.imported,
        rows=[
            RosterEntryJSON(
                row=each.row.number,
                username=each.row.username,
                name=each.row.name,
                email=each.row.email,
                outcome=each.outcome,
                detail=each.detail,
                url=invitation_link(request, course, each.invitation) if each.invitation else None,
            )
            for each in roster.entries
        ],
    )
