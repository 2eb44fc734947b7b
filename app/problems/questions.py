"""The questions of answer-mode problems, in the database: every server reads what one process has drawn."""

from collections.abc import Collection

from sqlalchemy import select, union
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import Database, insert_into
from app.problems.models import CourseProblemRow, PublishedRow, QuestionsRow
from grader.answers.question_variants import Variants


async def questions_for(session: AsyncSession, version: str) -> Variants | None:
    """None if they have not been drawn yet, or if the version has none."""
    row = await session.get(QuestionsRow, version)
    return None if row is None else Variants.read(row.drawn)


async def store_questions(database: Database, version: str, questions: Variants) -> None:
    """Store them, unless another process has done so."""
    row = {"version": version, "drawn": questions.stored(), "drawn_at": now()}
    async with database.writing() as session:
        await session.execute(insert_into(session, QuestionsRow).values(row).on_conflict_do_nothing())


async def published_without(database: Database, known: Collection[str]) -> list[str]:
    """Published and private versions whose questions are not stored, apart from those that are known to have none."""
    served = union(
        select(PublishedRow.slug, PublishedRow.version), select(CourseProblemRow.problem, CourseProblemRow.version)
    ).subquery()
    query = (
        select(served.c.version)
        .outerjoin(QuestionsRow, QuestionsRow.version == served.c.version)
        .where(QuestionsRow.version.is_(None))
        .order_by(served.c.slug)
    )
    async with database.reading() as session:
        return [version for version in await session.scalars(query) if version not in known]
