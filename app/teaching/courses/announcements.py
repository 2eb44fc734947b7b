"""Announcements of a course. The only writer of that table."""

import re
from datetime import datetime

from sqlalchemy import delete, select

from app.accounts.audit.log import LONGEST_DETAIL, record
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.errors import FieldInvalid
from app.core.ids import is_id, new_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.text_search import has_text
from app.core.view import View
from app.teaching.courses.errors import AnnouncementNotFound
from app.teaching.courses.models import AnnouncementRow
from app.teaching.courses.service import Course

LONGEST_ANNOUNCEMENT = 5000
# Control characters except line breaks and tabs, and characters that change the direction of text.
_NONE_OF = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069"
ANNOUNCEMENT_PATTERN = rf"^[^{_NONE_OF}]*[^\s{_NONE_OF}][^{_NONE_OF}]*$"
# Half of a surrogate pair is not permitted either, but no pattern in JSON can express it.
_TEXT = re.compile(rf"[^{_NONE_OF}\ud800-\udfff]*")


class Announcement(View):
    """Plain text. `author` is null once the account is deleted."""

    id: str
    text: str
    author: str | None
    at: datetime


class Announcements:
    """Safe to share between requests. The routes check who may write, and `Courses.get` who may read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, course: Course, cursor: Cursor, q: str = "") -> Page[Announcement]:
        """Newest first. `q` is a part of the text. Raises `AnnouncementNotFound` for the cursor."""
        row = AnnouncementRow
        query = (
            select(row.id, row.text, UserRow.name.label("author"), row.created_at.label("at"))
            .outerjoin(UserRow, UserRow.id == row.user_id)
            .where(row.course_id == course.id)
        )
        only = [has_text(q, [row.text])] if q else []
        by = (row.created_at, row.id)
        async with self._database.reading() as session:
            return await paged(session, query, by, cursor, Announcement.of_columns, only=only, missing=_not_found)

    async def announce(self, user: User, course: Course, text: str) -> Announcement:
        """Raises `FieldInvalid`."""
        text = text.strip()
        if not text or len(text) > LONGEST_ANNOUNCEMENT or not _TEXT.fullmatch(text):
            raise FieldInvalid(f"text: write 1 to {LONGEST_ANNOUNCEMENT} characters of plain text.")
        row = AnnouncementRow(id=new_id(), course_id=course.id, user_id=user.id, text=text, created_at=now())
        async with self._database.writing() as session:
            session.add(row)
            record(session, user, "announced", None, "", _detail(course, text), course.id)
        return Announcement(id=row.id, text=text, author=user.name, at=row.created_at)

    async def remove(self, user: User, course: Course, announcement_id: str) -> None:
        """Raises `AnnouncementNotFound`."""
        row = AnnouncementRow
        async with self._database.writing() as session:
            text = None
            if is_id(announcement_id):
                text = await session.scalar(
                    delete(row).where(row.id == announcement_id, row.course_id == course.id).returning(row.text)
                )
            if text is None:
                raise _not_found(announcement_id)
            record(session, user, "announcement-removed", None, "", _detail(course, text), course.id)


def _not_found(announcement_id: str) -> AnnouncementNotFound:
    return AnnouncementNotFound(f"This course has no announcement with the id {announcement_id[:64]!r}.")


def _detail(course: Course, text: str) -> str:
    """Its beginning, as one line."""
    return f"{course.name}: {' '.join(text.split())}"[:LONGEST_DETAIL]
