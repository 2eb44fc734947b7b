"""What a report compares: which attempts of which students, and what each student did before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import UserRow
from app.core.ids import is_id
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.learning.workbench.models import DraftRow
from app.teaching.courses.models import MemberRow
from app.teaching.identities.identity import RosterIdentity
from app.teaching.similarity.compare import MOST_PEOPLE, MOST_SOURCES

Shown = Sequence[ColumnElement[bool]]
# best, last: the accepted attempt with the highest score, or the latest one. all: every attempt with a score.
Choice = Literal["best", "last", "all"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
# Of one student, newest first, if all attempts are compared.
_MOST_EACH = 10


@dataclass(frozen=True, slots=True)
class Submission:
    """An attempt of a student.

    `earlier` is how many runs and attempts at the problem the student sent before it. `saves` is how many texts the
    student's draft has had; 0 if no draft was begun before it was sent.
    """

    attempt_id: str
    user_id: str
    name: str
    score: int
    source: str
    is_accepted: bool
    sent_at: datetime
    earlier: int
    saves: int
    identity: RosterIdentity | None = None

    @property
    def words(self) -> str:
        """What a reader may look for."""
        return f"{self.name} {self.identity.words}" if self.identity else self.name

    @property
    def came_whole(self) -> bool:
        """Whether the service saw nothing of how it was written."""
        return not self.earlier and self.saves <= 1


async def find_submissions(
    session: AsyncSession, slug: str, course_id: str | None, choice: Choice, shown: Shown = ()
) -> tuple[list[Submission], int]:
    """By name and then newest first, of at most `MOST_PEOPLE`, and how many people more there are. `shown` are
    conditions that leave out attempts whose verdict the reader does not see.
    """
    row = AttemptRow
    accepted = [] if choice == "all" else [row.verdict_status == "accepted"]
    condition = and_(row.problem == slug, IS_SCORED, *accepted, *shown)
    people = select(UserRow.id).where(UserRow.role == "student", UserRow.id.in_(select(row.user_id).where(condition)))
    if course_id is not None:
        people = people.where(UserRow.id.in_(_students(course_id)))
    total = await session.scalar(select(func.count()).select_from(people.subquery())) or 0
    first = people.order_by(UserRow.name).limit(MOST_PEOPLE).subquery()
    order = (row.score.desc(), row.created_at.desc()) if choice == "best" else (row.created_at.desc(),)
    place = func.row_number().over(partition_by=row.user_id, order_by=(*order, row.id)).label("place")
    numbered = select(row.id, place).where(condition, row.user_id.in_(select(first.c.id))).subquery()
    each = max(1, min(_MOST_EACH, MOST_SOURCES // max(1, total))) if choice == "all" else 1
    query = _query().join(numbered, numbered.c.id == row.id).where(numbered.c.place <= each)
    rows = (await session.execute(query.order_by(UserRow.name, numbered.c.place))).all()
    return [_submission_of(*each) for each in rows], max(0, total - MOST_PEOPLE)


async def find_submission(
    session: AsyncSession, slug: str, attempt_id: str, course_id: str | None, shown: Shown = ()
) -> Submission | None:
    """One attempt of a student, or a student of the course, at the problem, if it has a score. `shown` as in
    `find_submissions`.
    """
    if not is_id(attempt_id):
        return None
    row = AttemptRow
    query = _query().where(row.id == attempt_id, row.problem == slug, IS_SCORED, UserRow.role == "student", *shown)
    if course_id is not None:
        query = query.where(UserRow.id.in_(_students(course_id)))
    found = (await session.execute(query)).one_or_none()
    return _submission_of(*found) if found else None


def _students(course_id: str) -> Select[str]:
    return select(MemberRow.user_id).where(MemberRow.course_id == course_id, MemberRow.role == "student")


def _query() -> Select[str, str, str, int | None, str, str | None, datetime, int, int | None]:
    row, before = AttemptRow, AttemptRow.__table__.alias("before")
    earlier = (
        select(func.count())
        .select_from(before)
        .where(
            before.c.problem == row.problem,
            before.c.user_id == row.user_id,
            before.c.created_at < row.created_at,
            before.c.kind != "rejudge",
        )
        .correlate(row)
        .scalar_subquery()
    )
    draft = and_(DraftRow.user_id == row.user_id, DraftRow.problem == row.problem, DraftRow.begun_at <= row.created_at)
    return (
        select(
            row.id,
            UserRow.id,
            UserRow.name,
            row.score,
            row.source,
            row.verdict_status,
            row.created_at,
            earlier,
            DraftRow.revision,
        )
        .join(UserRow, UserRow.id == row.user_id)
        .outerjoin(DraftRow, draft)
    )


def _submission_of(
    attempt_id: str,
    user_id: str,
    name: str,
    score: int | None,
    source: str,
    status: str | None,
    sent_at: datetime,
    earlier: int,
    saves: int | None,
) -> Submission:
    return Submission(attempt_id, user_id, name, score or 0, source, status == "accepted", sent_at, earlier, saves or 0)
