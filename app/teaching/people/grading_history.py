"""How someone's attempt was graded, for support: each try with its worker, its phases and its end."""

from dataclasses import dataclass

from sqlalchemy import select

from app.core.database import Database
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.grading_tries import Try, tries_of
from app.grading.queue.models import AttemptRow
from app.teaching.people.directory import Person


@dataclass(frozen=True, slots=True)
class GradingHistory:
    """`tries` is empty if it has not begun, or ended before tries were stored. `counted` is how many of them count:
    a try that was stopped does not."""

    person: Person
    attempt: AttemptJSON
    counted: int
    tries: list[Try]


async def read_grading_history(database: Database, person: Person, attempt: AttemptJSON) -> GradingHistory:
    query = select(AttemptRow.tries, AttemptRow.gradings).where(AttemptRow.id == attempt.id)
    async with database.reading() as session:
        counted, gradings = (await session.execute(query)).one_or_none() or (0, None)
    return GradingHistory(person, attempt, counted, tries_of(gradings))
