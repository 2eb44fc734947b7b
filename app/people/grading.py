"""How someone's attempt was graded, for support: each try with its worker, its phases and its end."""

from dataclasses import dataclass

from sqlalchemy import select

from app.attempts.views import AttemptView
from app.database import Database
from app.people.listing import Person
from app.queue.gradings import Try, tries_of
from app.queue.models import AttemptRow


@dataclass(frozen=True, slots=True)
class GradingStory:
    """`tries` is empty if it has not begun, or ended before tries were stored. `counted` is how many of them count:
    a try that was stopped does not."""

    person: Person
    attempt: AttemptView
    counted: int
    tries: list[Try]


async def read_grading(database: Database, person: Person, attempt: AttemptView) -> GradingStory:
    query = select(AttemptRow.tries, AttemptRow.gradings).where(AttemptRow.id == attempt.id)
    async with database.reading() as session:
        counted, gradings = (await session.execute(query)).one_or_none() or (0, None)
    return GradingStory(person, attempt, counted, tries_of(gradings))
