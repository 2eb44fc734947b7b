"""Columns in the gradebooks of platforms, for links that came without one.

https://www.imsglobal.org/spec/lti-ags/v2p0#line-item-service
"""

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from app.core.database import Database
from app.core.errors import AssignmentNotFound
from app.problems.catalogue import Catalogue
from app.teaching.courses.models import CourseRow
from app.teaching.courses.service import Courses
from app.teaching.lti.errors import PlatformFailed
from app.teaching.lti.messages import web_address
from app.teaching.lti.platform_requests import PlatformRequests
from app.teaching.lti.platforms import Platform

log = logging.getLogger(__name__)
# When the platform can offer to open the submission: what ScoreSender says of the student's activity.
REVIEW = {"reviewableStatus": ["Submitted"]}
# A launch waits for it.
_PATIENCE_S = 8.0


@dataclass(frozen=True, slots=True)
class MissingColumn:
    """A link without a column. `items_url` is where the platform lists those of its course."""

    platform: Platform
    link_id: str
    items_url: str
    resource: str
    title: str
    course_id: str | None
    problem: str | None
    assignment_id: str | None


class LineItems:
    """Safe to share between requests."""

    def __init__(self, database: Database, courses: Courses, catalogue: Catalogue, requests: PlatformRequests) -> None:
        self._database = database
        self._courses = courses
        self._catalogue = catalogue
        self._requests = requests
        # Many students of a course open a new link at the same time, and it needs one column.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def create(self, missing: MissingColumn) -> str | None:
        """The address of the link's column, which is created if the platform has none.

        None if the link has no points, or if the platform did not create it. The launch continues without a column, and
        the next launch tries again.
        """
        lock = self._locks.setdefault(missing.link_id, asyncio.Lock())
        try:
            async with asyncio.timeout(_PATIENCE_S), lock:
                found = await self._requests.line_items(missing.platform, missing.items_url, missing.resource)
                if known := _address(next(iter(found), {})):
                    return known
                column = await self._column(missing)
                if column is None:
                    return None
                return _address(await self._requests.add_line_item(missing.platform, missing.items_url, column))
        except (PlatformFailed, TimeoutError) as error:
            log.warning(
                "no column for a link to %s: %s",
                missing.problem or "an assignment",
                str(error) or type(error).__name__,
                extra={"platform": missing.platform.name},
            )
            return None

    async def _column(self, missing: MissingColumn) -> dict[str, Any] | None:
        if missing.problem is not None:
            title = missing.title or self._catalogue.get(missing.problem).manifest.title
            return _item(title, 100, missing.problem, "problem", missing.resource)
        async with self._database.reading() as session:
            course = await session.get(CourseRow, missing.course_id)
        try:
            if course is None:
                return None
            assignment = await self._courses.assignment(self._courses.view(course), missing.assignment_id or "")
        except AssignmentNotFound:
            return None
        # A maximum of zero is not permitted.
        if not assignment.most_points:
            return None
        title = missing.title or assignment.name
        times = {"startDateTime": time_text(assignment.opens_at), "endDateTime": time_text(assignment.due_at)}
        return _item(title, assignment.most_points, assignment.id, "assignment", missing.resource) | times


def time_text(moment: datetime) -> str:
    """As platforms read it: ISO 8601, in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _item(title: str, most: int, resource_id: str, tag: str, link: str) -> dict[str, Any]:
    column = {"label": title, "scoreMaximum": most, "resourceId": resource_id, "tag": tag, "resourceLinkId": link}
    return column | {"submissionReview": REVIEW}


def _address(item: dict[str, Any]) -> str | None:
    return web_address(item.get("id"))
