"""The page of a course, and what is done on it and over REST: to its announcements and its members."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse, Response

from app.accounts.caller import User
from app.accounts.web import Grader, Instructor, Reader
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, Typed
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor, LongNewestFirst
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_list, render_page
from app.problems.catalogue import Catalogue
from app.problems.exams import words_of
from app.teaching.courses.announcements import LONGEST_ANNOUNCEMENT, Announcement, Announcements
from app.teaching.courses.categories import Categories
from app.teaching.courses.course_in_path import CourseForAnnouncements, CourseForRoster, JoinedCourse, TaughtCourse
from app.teaching.courses.course_work import CourseWork
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.last_attempts import LastAttempts
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.problem_rows import about_problems, rows_of
from app.teaching.courses.roster_lines import RosterLines
from app.teaching.courses.schemas import AnnouncementList, MemberRoleJSON, NewAnnouncementJSON
from app.teaching.courses.service import Course

# Those of larger courses are on the page People.
_MOST_MEMBERS = 50
# Older ones have a page.
_ANNOUNCEMENTS = 5


class CoursePages:
    """Shows a course with its announcements, assignments and people. Safe to share between requests."""

    def __init__(
        self,
        work: CourseWork,
        catalogue: Catalogue,
        announcements: Announcements,
        categories: Categories,
        members: CourseMembers,
        roster: RosterLines,
        last: LastAttempts,
    ) -> None:
        self._work, self._catalogue = work, catalogue
        self._announcements, self._categories = announcements, categories
        self._members, self._roster, self._last = members, roster, last

    async def show(
        self,
        user: User,
        course: Course,
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
        is_manager = course.is_taught
        members = await self._members.of(course) if is_manager else []
        first = [each.id for each in members[:_MOST_MEMBERS]]
        return render_page(
            "teaching/courses/course.html",
            user=user,
            course=course,
            manages=is_manager,
            reads_gradebook=is_manager or course.is_assisted,
            local=local_of(course),
            part_words=words_of,
            categories=await self._categories.of(course) if is_manager else [],
            announcements=await self._announcements.of(course, Cursor(_ANNOUNCEMENTS)),
            longest_announcement=LONGEST_ANNOUNCEMENT,
            members=members,
            last_attempts=await self._last.by_member(course, first) if first else {},
            most_members=_MOST_MEMBERS,
            identities=await self._roster.of_course(course.id) if is_manager else {},
            removed=await self._members.former(course, removed) if course.allows("roster") else None,
            withdrawn=withdrawn,
            refusal=refusal,
            form=form,
            rows=rows_of(form.get("problems", ""), self._catalogue) if is_manager else [],
            about=about_problems(self._catalogue) if is_manager else {},
            **await self._work.arrange(user, course, q, after),
        )


@dataclass(frozen=True)
class CoursePage(FormPage):
    course: JoinedCourse
    user: Reader
    pages: Provided[CoursePages]
    path = "/courses/{course.id}"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.pages.show(self.user, self.course, typed, refusal)


actions = Actions("courses", CoursePage, "/courses/{course_id}")


@actions.pages.get("")
async def show_course(
    course: JoinedCourse,
    user: Reader,
    pages: Provided[CoursePages],
    removed: Annotated[str, Query(max_length=32)] = "",
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str | None, Query(max_length=32)] = None,
) -> HTMLResponse:
    return await pages.show(user, course, {}, removed=removed, q=q.strip(), after=after)


@actions.pages.get("/announcements")
async def show_announcements(
    course: JoinedCourse,
    user: Reader,
    announcements: Provided[Announcements],
    q: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[str | None, Query(max_length=32)] = None,
) -> Response:
    found = await announcements.of(course, Cursor(SHOWN, before), q.strip())
    return render_list(
        "teaching/courses/announcements.html",
        user=user,
        course=course,
        announcements=found,
        links=ListLinks(f"/courses/{course.id}/announcements", found, before, {"q": q.strip()}, cursor="before"),
        more=lambda: {"local": local_of(course)},
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
