"""Which lessons a reader marked as read: with an account in the database, without one in a cookie of the browser."""

from fastapi import Request
from sqlalchemy import bindparam, delete, select
from starlette.responses import Response

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database, insert_into, select_rows
from app.core.prepared_select import PreparedSelect
from app.core.web.cookies import LESSONS_COOKIE, set_cookie
from app.learning.lessons.lesson import Lesson
from app.learning.lessons.models import LessonReadRow

_YEAR_S = 365 * 24 * 60 * 60


# Built once: building a statement takes as long as executing it, and the list of problems needs it.
_READ = PreparedSelect(select(LessonReadRow.lesson).where(LessonReadRow.user_id == bindparam("user_id")))


class LessonReads:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, request: Request, user: User | None) -> frozenset[str]:
        """The slugs of the lessons that this reader marked."""
        if user is None:
            return frozenset(each for each in request.cookies.get(LESSONS_COOKIE, "").split(".") if each)
        async with self._database.reading() as session:
            return frozenset((await select_rows(session, _READ, {"user_id": user.id})).scalars())

    async def mark(
        self, request: Request, response: Response, user: User | None, lesson: Lesson, *, is_read: bool
    ) -> None:
        """Mark the lesson as read, or remove the mark."""
        if user is None:
            others = await self.of(request, None) - {lesson.slug}
            marked = ".".join(sorted({*others, lesson.slug} if is_read else others))
            set_cookie(request, response, LESSONS_COOKIE, marked, max_age_s=_YEAR_S)
            return
        values = {"user_id": user.id, "lesson": lesson.slug, "read_at": now()}
        of_this = (LessonReadRow.user_id == user.id, LessonReadRow.lesson == lesson.slug)
        async with self._database.writing() as session:
            if is_read:
                await session.execute(insert_into(session, LessonReadRow).values(values).on_conflict_do_nothing())
            else:
                await session.execute(delete(LessonReadRow).where(*of_this))
