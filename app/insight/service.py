"""Reads how problems do: one of them in detail, and all of them in a line each."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, select

from app.accounts.models import UserRow
from app.database import Database
from app.insight.facts import read_facts
from app.insight.summary import Summary, summarize
from app.queue.models import IS_SCORED, AttemptRow
from grader.stored_verdict import read_verdict


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A problem to which students have submitted. `attempts` are those with a score."""

    problem: str
    people: int
    solved: int
    attempts: int
    accepted: int


class Insight:
    """Safe to share between requests. Only what students sent counts: trials of instructors would hide their faults."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_problem(self, problem: str, version: str) -> Summary:
        """Three queries, however many attempts there are. `version` is the served one."""
        facts = await read_facts(self._database, problem)
        cases = await self._cases(problem, version)
        return await asyncio.to_thread(summarize, facts, version, cases)

    async def of_all(self) -> list[ProblemLine]:
        """By problem. One query."""
        accepted = case((AttemptRow.verdict_status == "accepted", 1), else_=0)
        each = (
            select(
                AttemptRow.problem,
                func.count().label("attempts"),
                func.sum(accepted).label("accepted"),
                func.max(accepted).label("solved"),
            )
            .join(UserRow, UserRow.id == AttemptRow.user_id)
            .where(IS_SCORED, UserRow.role == "student")
            .group_by(AttemptRow.problem, AttemptRow.user_id)
            .subquery()
        )
        query = (
            select(
                each.c.problem,
                func.count(),
                func.sum(each.c.solved),
                func.sum(each.c.attempts),
                func.sum(each.c.accepted),
            )
            .group_by(each.c.problem)
            .order_by(each.c.problem)
        )
        async with self._database.reading() as session:
            return [ProblemLine(problem, *map(int, counts)) for problem, *counts in await session.execute(query)]

    async def _cases(self, problem: str, version: str) -> Sequence[str] | None:
        """The ids of all cases of a version. An accepted attempt has been through each of them; without one, None."""
        row = AttemptRow
        query = (
            select(row.verdict)
            .where(row.problem == problem, row.version == version, IS_SCORED, row.verdict_status == "accepted")
            .limit(1)
        )
        async with self._database.reading() as session:
            verdict = await session.scalar(query)
        return [each.id for each in read_verdict(verdict).cases] or None if verdict else None
