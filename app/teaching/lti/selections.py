"""Deep linking: an instructor chooses what a link in the platform leads to, and the choice is signed and returned."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.errors import AssignmentNotFound, FieldInvalid
from app.core.ids import is_id, new_id
from app.problems.catalogue import Catalogue
from app.teaching.courses.models import CourseRow
from app.teaching.courses.service import Assignment, Courses
from app.teaching.lti.errors import LaunchNotFound
from app.teaching.lti.line_items import REVIEW, time_text
from app.teaching.lti.messages import CLAIM, DEEP_LINKING
from app.teaching.lti.models import ContextRow, SelectionRow
from app.teaching.lti.platform_requests import PlatformRequests
from app.teaching.lti.platforms import Platform, Platforms

_LIFE_S = 300
MOST_ITEMS = 50


@dataclass(frozen=True, slots=True)
class Selection:
    """`course_id` is the course that the platform's is linked to, whose assignments can be chosen."""

    id: str
    platform: Platform
    deployment: str
    return_url: str
    data: str | None
    course_id: str | None
    assignments: Sequence[Assignment]


class Selections:
    """Safe to share between requests. Users see only their own."""

    def __init__(
        self,
        database: Database,
        courses: Courses,
        catalogue: Catalogue,
        platforms: Platforms,
        requests: PlatformRequests,
        site: str | None,
    ) -> None:
        self._database = database
        self._courses = courses
        self._catalogue = catalogue
        self._platforms = platforms
        self._requests = requests
        self._site = site

    async def get(self, user: User, selection_id: str) -> Selection:
        """Raises `LaunchNotFound`, even if it exists for another user."""
        async with self._database.reading() as session:
            row = await session.get(SelectionRow, selection_id) if is_id(selection_id) else None
            if row is None or row.user_id != user.id or row.expires_at <= now():
                raise LaunchNotFound("This selection has expired. Start again in the learning platform.")
            platform = await self._platforms.get_in(session, row.platform_id)
            context = await session.get(ContextRow, row.context_id) if row.context_id else None
            course = await session.get(CourseRow, context.course_id) if context and context.course_id else None
        assignments = await self._courses.assignments(self._courses.view(course)) if course else []
        course_id = course.id if course else None
        return Selection(row.id, platform, row.deployment, row.return_url, row.data, course_id, assignments)

    async def answer(self, selection: Selection, choices: Sequence[str], *, columns: bool = True) -> str:
        """The signed response: each choice is `problem SLUG` or `assignment ID`. With `columns`, it names the column
        that each one has in the platform's gradebook.

        Raises:
          FieldInvalid: none, or too many.
          ProblemNotFound, AssignmentNotFound.
        """
        if not 1 <= len(choices) <= MOST_ITEMS:
            raise FieldInvalid(f"Choose 1 to {MOST_ITEMS} assignments or problems. You chose {len(choices)}.")
        moment = int(time.time())
        claims: dict[str, Any] = {
            "iss": selection.platform.client_id,
            "aud": selection.platform.issuer,
            "iat": moment,
            "exp": moment + _LIFE_S,
            "nonce": new_id(),
            f"{CLAIM}deployment_id": selection.deployment,
            f"{CLAIM}message_type": "LtiDeepLinkingResponse",
            f"{CLAIM}version": "1.3.0",
            f"{DEEP_LINKING}content_items": [self._item(selection, each, columns=columns) for each in choices],
        }
        if selection.data is not None:
            claims[f"{DEEP_LINKING}data"] = selection.data
        return await self._requests.signed(claims)

    def _item(self, selection: Selection, choice: str, *, columns: bool) -> dict[str, Any]:
        kind, _, name = choice.partition(" ")
        if kind == "assignment":
            assignment = next((each for each in selection.assignments if each.id == name), None)
            if assignment is None:
                raise AssignmentNotFound(f"The linked course has no assignment with the id {name[:64]!r}.")
            page = f"/courses/{selection.course_id}?assignment={assignment.id}"
            # A maximum of zero is not permitted.
            has_column = columns and assignment.most_points > 0
            return self._resource(assignment.name, page) | {
                **({"lineItem": _column(assignment.name, assignment.most_points)} if has_column else {}),
                "available": {"startDateTime": time_text(assignment.opens_at)},
                "submission": {
                    "startDateTime": time_text(assignment.opens_at),
                    "endDateTime": time_text(assignment.due_at),
                },
            }
        package = self._catalogue.get(name)
        title = package.manifest.title
        resource = self._resource(title, f"/problems/{package.slug}")
        return resource | {"lineItem": _column(title, 100)} if columns else resource

    def _resource(self, title: str, page: str) -> dict[str, Any]:
        # In a window of its own, because this service is never shown in a frame.
        window = {"targetName": "_blank"}
        return {"type": "ltiResourceLink", "title": title, "url": f"{self._site}{page}", "window": window}


def selection_page(selection_id: str, *, several: bool, columns: bool) -> str:
    """The page on which to choose: `several` items at once, and with `columns` for their scores."""
    query = ({"several": "true"} if several else {}) | ({} if columns else {"columns": "false"})
    return f"/lti/selections/{selection_id}{'?' if query else ''}{urlencode(query)}"


def _column(title: str, most: int) -> dict[str, Any]:
    return {"scoreMaximum": most, "label": title, "submissionReview": REVIEW}
