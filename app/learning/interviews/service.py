"""Interviews: the only writer of their table. While one is open, hints and editorials of its problems are closed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import SystemRandom
from typing import Any, cast

from sqlalchemy import Row, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database, UTCDateTime, once, select_rows
from app.core.ids import is_id, new_id
from app.core.prepared_select import PreparedSelect
from app.grading.attempts.progress import progress
from app.learning.interviews.errors import InterviewNotFound, InterviewOpen, InterviewOver, LevelEmpty
from app.learning.interviews.interview import LONGEST, Interview, Level, Place, draw_problems
from app.learning.interviews.models import InterviewRow
from app.learning.interviews.summary import Outcome, outcomes_of
from app.problems.catalogue import Catalogue
from app.problems.exams import OpenExam

_LISTED = 50
_END = "the interview is over"


@dataclass(frozen=True, slots=True)
class Banner:
    """What the page of a problem says of the interview that it is part of. `number` counts from 1."""

    id: str
    number: int
    count: int
    due_at: datetime | None
    is_running: bool


class Interviews:
    """Safe to share between requests. A user has at most one open interview. Implements `Exams`."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue

    async def begin(self, user: User, level: Level) -> Interview:
        """Draw the problems, and begin with the first.

        Raises:
          LevelEmpty: no problem of this level is served.
          InterviewOpen: another one has not ended.
        """
        solved = [slug for slug, each in (await progress(self._database, user)).items() if each.accepted]
        drawn = draw_problems(self._catalogue.sections(), level, solved, SystemRandom())
        if not drawn:
            raise LevelEmpty(f"This service has no problem of the level {level!r}. Choose another level.")
        moment = now()
        places = [Place(slug=each.slug, started_at=None if number else moment) for number, each in enumerate(drawn)]
        row = InterviewRow(
            id=new_id(),
            user_id=user.id,
            level=level,
            problems=_stored(places),
            created_at=moment,
            expires_at=moment + LONGEST,
        )
        async with self._database.writing() as session:
            # One at a time for each user, even if two requests arrive together.
            await session.get(UserRow, user.id, with_for_update=True)
            if (under_way := await _open(session, user)) is not None:
                raise InterviewOpen(
                    "You have an interview that has not ended. Go on with it, or end it.", interview=under_way.id
                )
            session.add(row)
        return _view(row)

    async def get(self, user: User, interview_id: str) -> Interview:
        """Raises `InterviewNotFound`."""
        async with self._database.reading() as session:
            return _view(await _row(session, user, interview_id))

    async def list(self, user: User) -> Sequence[Interview]:
        """The latest ones, newest first."""
        row = InterviewRow
        query = select(row).where(row.user_id == user.id).order_by(row.created_at.desc(), row.id.desc()).limit(_LISTED)
        async with self._database.reading() as session:
            return [_view(each) for each in await session.scalars(query)]

    async def outcomes(self, user: User, interview: Interview) -> tuple[Outcome, ...]:
        """What was sent to each problem within its time."""
        return await outcomes_of(self._database, user, interview)

    async def go_on(self, user: User, interview_id: str) -> Interview:
        """End the current problem, and begin the next one; after the last, end the interview.

        Raises:
          InterviewNotFound, InterviewOver.
        """
        async with self._database.writing() as session:
            row = await _row(session, user, interview_id, lock=True)
            interview, moment = _running(row), now()
            following = interview.next(moment)
            if following is None:
                row.problems, row.ended_at = _stored(interview.stopped(moment)), moment
            else:
                # The new problem has all of its time, however long the pause before it was.
                row.problems, row.expires_at = _stored(following), moment + LONGEST
            return _view(row)

    async def end(self, user: User, interview_id: str) -> Interview:
        """End it now.

        Raises:
          InterviewNotFound, InterviewOver.
        """
        async with self._database.writing() as session:
            row = await _row(session, user, interview_id, lock=True)
            moment = now()
            row.problems, row.ended_at = _stored(_running(row).stopped(moment)), moment
            return _view(row)

    async def open(self, user: User | None, problem: str) -> OpenExam | None:
        """When the hints of this problem open again at the latest, if it is part of an open interview of the user."""
        found = await self._with(user, problem)
        return None if found is None else OpenExam(found.expires_at, "interview", _END)

    async def without_explorer(self, user: User | None) -> OpenExam | None:
        """None: an interview leaves the Explorer open."""
        return None

    async def banner(self, user: User | None, problem: str) -> Banner | None:
        """For the page of a problem that an open interview of the user has already begun."""
        interview = await self._with(user, problem)
        if interview is None:
            return None
        number = next(n for n, each in enumerate(interview.places, 1) if each.slug == problem)
        place = interview.places[number - 1]
        is_running = place.state(now()) == "running"
        return Banner(interview.id, number, len(interview.places), place.due_at, is_running)

    async def _with(self, user: User | None, problem: str) -> Interview | None:
        if user is None or user.guest is not None:
            return None
        async with self._database.reading() as session:
            row = await once(session, ("open interview", user.id), lambda: _open(session, user))
        found = None if row is None else _view(row)
        return found if found and any(each.slug == problem for each in found.places) else None


# Built once: building a statement takes as long as executing it, and every problem page needs it.
_OPEN = PreparedSelect(
    select(*InterviewRow.__table__.columns)
    .where(
        InterviewRow.user_id == bindparam("user_id"),
        InterviewRow.ended_at.is_(None),
        InterviewRow.expires_at > bindparam("moment", type_=UTCDateTime()),
    )
    .order_by(InterviewRow.created_at.desc())
    .limit(1)
)


async def _open(session: AsyncSession, user: User) -> Row[*tuple[Any, ...]] | None:
    return (await select_rows(session, _OPEN, {"user_id": user.id, "moment": now()})).first()


async def _row(session: AsyncSession, user: User, interview_id: str, *, lock: bool = False) -> InterviewRow:
    row = await session.get(InterviewRow, interview_id, with_for_update=lock) if is_id(interview_id) else None
    if row is None or row.user_id != user.id:
        raise InterviewNotFound("None of your interviews has this id.")
    return row


def _running(row: InterviewRow) -> Interview:
    interview = _view(row)
    if interview.is_over(now()):
        raise InterviewOver("This interview is over. Begin a new one.")
    return interview


def _view(row: InterviewRow | Row[*tuple[Any, ...]]) -> Interview:
    places = tuple(Place.model_validate(each) for each in row.problems)
    return Interview(row.id, cast(Level, row.level), places, row.created_at, row.expires_at, row.ended_at)


def _stored(places: Sequence[Place]) -> "list[dict[str, object]]":
    return [each.model_dump(mode="json") for each in places]
