"""Reads how students are doing: at one problem in detail, and at all problems in one line each."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import case, func, select

from app.accounts.models import UserRow
from app.core.database import Database
from app.core.errors import ClusterNotFound
from app.core.view import View
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.teaching.insight.attempt_facts import AttemptFacts, read_facts
from app.teaching.insight.problem_summary import Cluster, Items, Summary, cluster_of, summarize
from grader.verdicts.stored_verdict import read_verdict

_MOST_MEMBERS = 20
# Attempts at all versions of a problem, or only at the one that is served.
Counted = Literal["all", "served"]


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


def _at(counted: Counted, version: str, facts: list[AttemptFacts]) -> list[AttemptFacts]:
    return facts if counted == "all" else [each for each in facts if each.version == version]


class Insight:
    """Safe to share between requests. Only students' attempts count: those of instructors would hide their faults."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_problem(
        self, problem: str, version: str, counted: Counted = "all", course_id: str | None = None
    ) -> Summary:
        """Of all students, or those of the course. Two queries, however many attempts there are. `version` is the
        served one.
        """
        facts = _at(counted, version, await read_facts(self._database, problem, course_id))
        items = await self._items(problem)
        return await asyncio.to_thread(summarize, facts, version, items)

    async def cluster(
        self, problem: str, version: str, key: str, counted: Counted = "all", course_id: str | None = None
    ) -> tuple[Cluster, list[ClusterMember]]:
        """A cluster with its newest attempts. Raises `ClusterNotFound`."""
        facts = _at(counted, version, await read_facts(self._database, problem, course_id))
        found = await asyncio.to_thread(cluster_of, facts, key)
        if found is None:
            raise ClusterNotFound(
                f"No attempt that is counted is in a group {key[:64]!r}. A known misconception may explain it by now."
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

    async def _items(self, problem: str) -> dict[str, Items]:
        """The cases and checks of each version that has an accepted attempt, whose verdict has them all."""
        row = AttemptRow
        one_each = (
            select(func.min(row.id))
            .where(row.problem == problem, IS_SCORED, row.verdict_status == "accepted")
            .group_by(row.version)
        )
        async with self._database.reading() as session:
            found = (await session.execute(select(row.version, row.verdict).where(row.id.in_(one_each)))).all()
        read = {version: read_verdict(verdict) for version, verdict in found if verdict is not None}
        return {
            version: Items(tuple(case.id for case in each.cases), tuple(check.id for check in each.checks))
            for version, each in read.items()
            if each.cases
        }
