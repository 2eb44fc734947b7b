"""Reads how students are doing: at one problem in detail, and at all problems in one line each."""

import asyncio
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select

from app.accounts.models import UserRow
from app.core.database import Database
from app.core.errors import ClusterNotFound
from app.core.view import View
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.teaching.insight.attempt_facts import read_facts
from app.teaching.insight.problem_summary import Cluster, Summary, cluster_of, summarize
from grader.verdicts.stored_verdict import read_verdict

_MOST_MEMBERS = 20


class ProblemLine(View):
    problem: str
    people: int
    solved: int
    attempts: int
    accepted: int


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """An attempt of a cluster."""

    id: str
    user_id: str
    name: str
    created_at: datetime


class Insight:
    """Safe to share between requests. Only students' attempts count: those of instructors would hide their faults."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_problem(self, problem: str, version: str) -> Summary:
        """Three queries, however many attempts there are. `version` is the served one."""
        facts = await read_facts(self._database, problem)
        cases, checks = await self._items(problem, version) or (None, ())
        return await asyncio.to_thread(summarize, facts, version, cases, checks)

    async def cluster(self, problem: str, version: str, key: str) -> tuple[Cluster, list[ClusterMember]]:
        """A cluster with its newest attempts. Raises `ClusterNotFound`."""
        facts = await read_facts(self._database, problem)
        found = await asyncio.to_thread(cluster_of, facts, version, key)
        if found is None:
            raise ClusterNotFound(
                f"No attempt at the served version is in a group {key[:64]!r}. A known misconception may explain it by "
                f"now."
            )
        newest = found[1][: -_MOST_MEMBERS - 1 : -1]
        query = select(AttemptRow.id, UserRow.name).join(UserRow, UserRow.id == AttemptRow.user_id)
        async with self._database.reading() as session:
            rows = await session.execute(query.where(AttemptRow.id.in_([each.id for each in newest])))
            names = {attempt_id: name for attempt_id, name in rows}
        return found[0], [
            ClusterMember(each.id, each.user_id, names[each.id], each.created_at) for each in newest if each.id in names
        ]

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
                func.count().label("people"),
                func.sum(each.c.solved).label("solved"),
                func.sum(each.c.attempts).label("attempts"),
                func.sum(each.c.accepted).label("accepted"),
            )
            .group_by(each.c.problem)
            .order_by(each.c.problem)
        )
        async with self._database.reading() as session:
            return [ProblemLine.of(each) for each in await session.execute(query)]

    async def _items(self, problem: str, version: str) -> tuple[list[str], list[str]] | None:
        """The ids of all cases and checks of a version, as an accepted attempt has them; None without one."""
        row = AttemptRow
        query = (
            select(row.verdict)
            .where(row.problem == problem, row.version == version, IS_SCORED, row.verdict_status == "accepted")
            .limit(1)
        )
        async with self._database.reading() as session:
            verdict = await session.scalar(query)
        if verdict is None:
            return None
        read = read_verdict(verdict)
        return ([each.id for each in read.cases], [each.id for each in read.checks]) if read.cases else None
