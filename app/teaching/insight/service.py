"""Reads how students are doing: at one problem in detail, and at all problems in one line each."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import case, func, select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.errors import ClusterNotFound
from app.core.view import View
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import ALL_EXAMS, NO_EXAM, SeenExams, shown_only
from app.teaching.courses.staff import manages
from app.teaching.insight.attempt_facts import AttemptFacts, read_facts
from app.teaching.insight.problem_summary import Cluster, CommonFault, Items, Summary, cluster_of, summarize
from grader.verdicts.verdict import Verdict

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


def _seen_by(reader: User) -> SeenExams:
    """An assistant sees how an exam went when it has closed, even one of their own course."""
    return ALL_EXAMS if manages(reader) else NO_EXAM


class Insight:
    """Safe to share between requests. Only students' attempts count: those of instructors would hide their faults."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_problem(
        self, reader: User, problem: str, version: str, counted: Counted = "all", course_id: str | None = None
    ) -> Summary:
        """Of all students, or those of the course. Two queries, however many attempts there are. `version` is the
        served one. For an assistant, attempts that an open exam withholds do not count.
        """
        seen = _seen_by(reader)
        facts = _at(counted, version, await read_facts(self._database, problem, course_id, seen))
        items = await self._items(problem, seen)
        return await asyncio.to_thread(summarize, facts, version, items)

    async def cluster(
        self, reader: User, problem: str, version: str, key: str, counted: Counted = "all", course_id: str | None = None
    ) -> tuple[Cluster, list[ClusterMember]]:
        """A cluster with its newest attempts, without those that `of_problem` does not count. Raises
        `ClusterNotFound`.
        """
        facts = _at(counted, version, await read_facts(self._database, problem, course_id, _seen_by(reader)))
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

    async def example_of(self, fault: CommonFault) -> Verdict | None:
        """The verdict of its example; None once it is gone. A reader must not learn whose it is."""
        query = select(AttemptRow.verdict).where(AttemptRow.id == fault.example)
        async with self._database.reading() as session:
            verdict = await session.scalar(query)
        return None if verdict is None else Verdict.model_validate(verdict)

    async def of_all(self) -> list[ProblemLine]:
        """By problem. One query, which reads an index of all scored attempts and none of the attempts."""
        accepted = case((AttemptRow.verdict_status == "accepted", 1), else_=0)
        each = (
            select(
                AttemptRow.user_id,
                AttemptRow.problem,
                func.count().label("attempts"),
                func.sum(accepted).label("accepted"),
                func.max(accepted).label("solved"),
            )
            .where(IS_SCORED)
            # In the order of that index.
            .group_by(AttemptRow.user_id, AttemptRow.problem)
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
            .join(UserRow, UserRow.id == each.c.user_id)
            .where(UserRow.role == "student")
            .group_by(each.c.problem)
            .order_by(each.c.problem)
        )
        async with self._database.reading() as session:
            return [ProblemLine.of(each) for each in await session.execute(query)]

    async def _items(self, problem: str, seen: SeenExams) -> dict[str, Items]:
        """The cases and checks of each version that has an accepted attempt, whose verdict has them all."""
        row = AttemptRow
        async with self._database.reading() as session:
            shown = await shown_only(session, problem=problem, seen=seen)
            one_each = (
                select(func.min(row.id))
                .where(row.problem == problem, IS_SCORED, row.verdict_status == "accepted", *shown)
                .group_by(row.version)
            )
            found = (await session.execute(select(row.version, row.verdict).where(row.id.in_(one_each)))).all()
        read = {version: Verdict.model_validate(verdict) for version, verdict in found if verdict is not None}
        return {
            version: Items(tuple(case.id for case in each.cases), tuple(check.id for check in each.checks))
            for version, each in read.items()
            if each.cases
        }
