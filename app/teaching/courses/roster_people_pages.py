"""The page with everyone on the roster of a course, and what is done on it and over REST."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.responses import Response

from app.accounts.web import Grader, site_address
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.paging import ById, Cursor
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.view import View
from app.core.web.templating import render_list
from app.teaching.courses.course_in_path import CourseForRoster
from app.teaching.courses.last_attempts import LastAttempts
from app.teaching.courses.roster_lines import RosterLines
from app.teaching.courses.roster_links import RosterInvitations
from app.teaching.courses.roster_mails import InvitationMails, RosterMails
from app.teaching.courses.roster_people import RosterPeople, RosterPerson
from app.teaching.courses.safe_csv import csv_download

_PAGE = 50
Text = Annotated[str, Query(max_length=200)]
Count = Annotated[int | None, Query(ge=0, le=10_000)]


@dataclass(frozen=True)
class RosterPeoplePage(FormPage):
    """Members of a course, and people who have no account yet."""

    course: CourseForRoster
    user: Grader
    people: Provided[RosterPeople]
    roster: Provided[RosterLines]
    mails: Provided[RosterMails]
    last: Provided[LastAttempts]
    path = "/courses/{course.id}/people"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show("", "", None, refusal)

    async def show(
        self,
        q: str,
        section: str,
        after: str | None,
        refusal: Refused | None = None,
        done: InvitationMails | None = None,
    ) -> Response:
        """`done` is what the action that led here has done."""
        course = self.course
        found = await self.people.list(course, Cursor(_PAGE, after), q, section)
        narrowing = {name: value for name, value in {"q": q, "section": section}.items() if value}
        return render_list(
            "teaching/courses/course_people.html",
            user=self.user,
            course=course,
            people=found,
            last_attempts=await self.last.by_member(course, [each.id for each in found if each.id]),
            total=await self.people.count(course),
            sections=await self.roster.sections(course.id),
            q=q,
            section=section,
            has_mail=self.mails.is_on,
            refusal=refusal,
            done=done,
            first=f"{self.address}?{urlencode(narrowing)}" if after else None,
            further=f"{self.address}?{urlencode(narrowing | {'after': found.next})}" if found.next else None,
        )


actions = Actions("courses", RosterPeoplePage, "/courses/{course_id}")


class RosterPeoplePart(View):
    """By real name. For the next page, send `next` as `after`. It is null on the last page."""

    people: list[RosterPerson]
    next: str | None


@actions.pages.get("/people")
async def show_roster_people(
    page: PageOf[RosterPeoplePage],
    q: Text = "",
    section: Text = "",
    after: Annotated[str | None, Query(max_length=32)] = None,
    mails: Count = None,
    earlier: Count = None,
    nowhere: Count = None,
) -> Response:
    done = None if mails is None else InvitationMails(mails=mails, earlier=earlier or 0, without_address=nowhere or 0)
    return await page.show(q.strip(), section.strip(), after, done=done)


@actions.pages.get("/invitations.csv")
async def download_invitations(
    request: Request, course: CourseForRoster, user: Grader, invitations: Provided[RosterInvitations]
) -> Response:
    """For a mail merge: everyone who has not used an invitation yet."""
    rows = await invitations.unused(course, site_address(request))
    return csv_download("invitations.csv", [("name", "email", "link"), *rows])


@actions.api.get("/roster", summary="Everyone on the roster of a course, for instructors and with the right roster")
async def list_roster(
    course: CourseForRoster,
    people: Provided[RosterPeople],
    cursor: ById,
    q: Annotated[str, Query(max_length=100, description="A part of a name, email or number")] = "",
    section: Annotated[str, Query(max_length=200, description="Only people of this section")] = "",
) -> RosterPeoplePart:
    found = await people.list(course, cursor, q.strip(), section.strip())
    return RosterPeoplePart(people=list(found), next=found.next)


@actions.post(
    "/invitations/mails",
    then="/courses/{course_id}/people?mails={result.mails}&earlier={result.earlier}&nowhere={result.without_address}",
    summary="Mail the invitations that were not sent before, as an instructor or with the right roster",
    responses=problem_responses(409),
)
async def mail_invitations(
    request: Request, course: CourseForRoster, user: Grader, mails: Provided[RosterMails]
) -> InvitationMails:
    return await mails.send(user, course, site_address(request))


@actions.delete(
    "/roster/{line_id}",
    form="/roster/{line_id}/remove",
    summary="Forget what the roster says of a person, as an instructor or with the right roster",
)
async def remove_roster_line(
    course: CourseForRoster, line_id: str, user: Grader, people: Provided[RosterPeople]
) -> None:
    await people.remove_line(user, course, line_id)
