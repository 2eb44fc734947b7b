"""The page of a course, and what is done on it and over REST: to its announcements and its members."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Grader, Instructor, Reader
from app.core.clock import now
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor, LongNewestFirst, Page
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided, services_of
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.problems.exams import words_of
from app.teaching.courses.announcements import LONGEST_ANNOUNCEMENT, Announcement, Announcements
from app.teaching.courses.categories import Categories
from app.teaching.courses.course_in_path import CourseForAnnouncements, CourseForRoster, JoinedCourse, TaughtCourse
from app.teaching.courses.course_problems import CourseProblems
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.exam_starts import ExamStarts
from app.teaching.courses.extensions import Extensions
from app.teaching.courses.gradebook import columns_of, gradebook
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.roster_lines import RosterLines
from app.teaching.courses.schemas import AnnouncementList, MemberRoleJSON, NewAnnouncementJSON
from app.teaching.courses.section_dates import SectionDates
from app.teaching.courses.service import Course, Courses, no_assignment

# Those of larger courses are on the page People.
_MOST_MEMBERS = 50
# Older ones have a page.
_ANNOUNCEMENTS = 5


@dataclass(frozen=True)
class CoursePage(FormPage):
    """A course with its announcements, assignments and people."""

    request: Request
    course: JoinedCourse
    user: Reader

    @property
    def address(self) -> str:
        return f"/courses/{self.course.id}"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed, refusal)

    async def show(
        self,
        form: dict[str, str],
        refusal: Refused | None = None,
        removed: str = "",
        withdrawn: dict[str, str] | None = None,
        q: str = "",
        after: str | None = None,
    ) -> HTMLResponse:
        """`form` is what was typed into the one that was refused. `removed` is the id of someone who was removed, and
        `withdrawn` has the fields of an assignment that was withdrawn: the page offers to undo either. `q` and `after`
        narrow the assignments down.
        """
        services, course, user = services_of(self.request), self.course, self.user
        is_manager = course.is_taught
        moment = now()
        every = await services[ExamStarts].shown_to(user, course, await services[Courses].assignments(course))
        every = await services[SectionDates].for_student(course, user, every)
        assignments = [each for each in every if is_manager or each.opens_at <= moment]
        columns = columns_of(assignments)
        mine = await gradebook(services[Database], course, columns, only=user.id)
        mine_alone = next(iter(mine), None)
        named = [each for each in assignments if each.is_named(q)]
        page = Page.part(named, Cursor(SHOWN, after), lambda each: each.id, no_assignment)
        latest = await services[Announcements].of(course, Cursor(_ANNOUNCEMENTS))
        own = {
            (column.assignment.id, column.problem): cell
            for line in mine
            for column, cell in zip(columns, line.cells, strict=True)
        }
        return render_page(
            "course.html",
            status_code=refusal.status if refusal else 200,
            user=user,
            course=course,
            manages=is_manager,
            reads_gradebook=is_manager or course.is_assisted,
            assignments=page,
            links=ListLinks(self.address, page, after, {"q": q}),
            dropped=[each.name for each in assignments if mine_alone and each.id in mine_alone.grade.dropped],
            now=moment,
            local=local_of(course),
            own=own,
            grade=mine_alone.grade if mine_alone else None,
            extensions=await services[Extensions].of_student(course, user),
            titles=titles_of(self.request),
            part_words=words_of,
            warnings={
                each.id: await services[CourseProblems].warnings([it.problem for it in each.problems])
                for each in page
                if each.is_exam and is_manager
            },
            categories=await services[Categories].of(course) if is_manager else [],
            answered={each.slug for each in services[Catalogue].all() if each.manifest.mode == "answer"},
            announcements=latest,
            longest_announcement=LONGEST_ANNOUNCEMENT,
            members=await services[CourseMembers].of(course) if is_manager else [],
            most_members=_MOST_MEMBERS,
            identities=await services[RosterLines].of_course(course.id) if is_manager else {},
            removed=await services[CourseMembers].former(course, removed) if course.allows("roster") else None,
            withdrawn=withdrawn,
            refusal=refusal,
            form=form,
        )


actions = Actions("courses", CoursePage, "/courses/{course_id}")


@actions.pages.get("")
async def show_course(
    page: PageOf[CoursePage],
    removed: Annotated[str, Query(max_length=32)] = "",
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str | None, Query(max_length=32)] = None,
) -> HTMLResponse:
    return await page.show({}, removed=removed, q=q.strip(), after=after)


@actions.pages.get("/announcements")
async def show_announcements(
    course: JoinedCourse,
    user: Reader,
    announcements: Provided[Announcements],
    q: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[str | None, Query(max_length=32)] = None,
) -> HTMLResponse:
    found = await announcements.of(course, Cursor(SHOWN, before), q.strip())
    return render_page(
        "announcements.html",
        user=user,
        course=course,
        announcements=found,
        links=ListLinks(f"/courses/{course.id}/announcements", found, before, {"q": q.strip()}, cursor="before"),
        local=local_of(course),
    )


@actions.api.get("/announcements", summary="The announcements of one of your courses")
async def list_announcements(
    course: JoinedCourse,
    announcements: Provided[Announcements],
    cursor: LongNewestFirst,
    q: Annotated[str, Query(max_length=100, description="A part of the text")] = "",
) -> AnnouncementList:
    found = await announcements.of(course, cursor, q.strip())
    return AnnouncementList(announcements=list(found), next=found.next)


@actions.post(
    "/announcements",
    status_code=201,
    summary="Post an announcement to a course, as an instructor or with the right announcements",
)
async def announce(
    course: CourseForAnnouncements, user: Grader, body: NewAnnouncementJSON, announcements: Provided[Announcements]
) -> Announcement:
    return await announcements.announce(user, course, body.text)


@actions.delete(
    "/announcements/{announcement_id}",
    form="/announcements/{announcement_id}/remove",
    summary="Remove an announcement, as an instructor or with the right announcements",
)
async def remove_announcement(
    course: CourseForAnnouncements, announcement_id: str, user: Grader, announcements: Provided[Announcements]
) -> None:
    await announcements.remove(user, course, announcement_id)


@actions.delete(
    "/people/{person_id}",
    form="/people/{person_id}/remove",
    then="/courses/{course_id}?removed={person_id}",
    summary="Remove a member from a course, as an instructor or, a student, with the right roster",
)
async def remove_from_course(
    course: CourseForRoster, person_id: str, user: Grader, members: Provided[CourseMembers]
) -> None:
    await members.remove(user, course, person_id)


@actions.put(
    "/people/{person_id}",
    form="/people/{person_id}/add",
    then="/courses/{course_id}#people",
    status_code=204,
    summary="Add an account to a course as a student, as an instructor or with the right roster",
)
async def add_to_course(
    course: CourseForRoster, person_id: str, user: Grader, members: Provided[CourseMembers]
) -> None:
    await members.add(user, course, person_id)


@actions.put(
    "/people/{person_id}/role",
    status_code=204,
    summary="Make a member an assistant, who reads the gradebook of the course, or a student",
    responses=problem_responses(409),
)
async def set_role_in_course(
    course: TaughtCourse, person_id: str, user: Instructor, body: MemberRoleJSON, members: Provided[CourseMembers]
) -> None:
    await members.set_role(user, course, person_id, body.role)


def local_of(course: Course) -> Callable[[datetime], str]:
    """Writes moments in the time zone of the course."""
    return lambda each: f"{to_local(each, course.time_zone):%a %-d %b %Y, %H:%M}"


def titles_of(request: Request) -> dict[str, str]:
    return {each.slug: each.manifest.title for each in services_of(request)[Catalogue].all()}
