"""Sends scores to platforms: each until it has arrived, with growing pauses, and never twice at the same time.

What is sent is the score at that moment, so a row says only that there is something to send. A new verdict makes the
row due again and takes it from a process that is sending it.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import String, and_, exists, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import IdentityRow
from app.clock import now
from app.courses.gradebook import columns_of, gradebook
from app.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow
from app.courses.service import Courses
from app.database import Database
from app.lease import FREE, is_free, keep_working, lock, take, write
from app.lti.errors import PlatformFailed
from app.lti.launches import expect_score
from app.lti.models import ContextRow, LinkRow, PlatformRow, ScoreRow
from app.lti.platforms import Platform, Platforms, identity_issuer
from app.lti.requests import FAULTS, PlatformRequests, fault_text
from app.queue.models import IS_SCORED, AttemptRow
from app.queue.withheld import shown_only, withheld_from

PAUSES_S = (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
_AT_ONCE = 10
_LEASE = timedelta(minutes=2)


async def queue_scores(session: AsyncSession, attempt_id: str) -> None:
    """Make the scores due that an attempt's verdict may change, in the transaction that stores the verdict."""
    attempt = (
        await session.execute(
            select(AttemptRow.user_id, AttemptRow.problem).where(AttemptRow.id == attempt_id, IS_SCORED)
        )
    ).one_or_none()
    if attempt is None:
        return
    user_id, problem = attempt
    of_assignment = select(AssignmentProblemRow.assignment_id).where(AssignmentProblemRow.problem == problem)
    is_learner = or_(
        exists().where(ScoreRow.link_id == LinkRow.id, ScoreRow.user_id == user_id),
        exists().where(
            MemberRow.course_id == ContextRow.course_id, MemberRow.user_id == user_id, MemberRow.role == "student"
        ),
    )
    issuer = literal(identity_issuer(""), String()) + PlatformRow.issuer
    links = (
        select(LinkRow.id, IdentityRow.subject)
        .join(ContextRow, ContextRow.id == LinkRow.context_id)
        .join(PlatformRow, PlatformRow.id == ContextRow.platform_id)
        .join(IdentityRow, and_(IdentityRow.issuer == issuer, IdentityRow.user_id == user_id))
        .where(
            LinkRow.line_item.is_not(None),
            or_(LinkRow.problem == problem, LinkRow.assignment_id.in_(of_assignment)),
            is_learner,
        )
    )
    for link_id, subject in (await session.execute(links)).all():
        await expect_score(session, link_id, user_id, subject)


@dataclass(frozen=True, slots=True)
class _Due:
    id: str
    fence_token: str
    tries: int
    user_id: str
    subject: str
    problem: str | None
    assignment_id: str | None
    line_item: str
    platform: Platform


class ScoreSender:
    """Any number of processes may have one. Only one of them takes a score at a time."""

    def __init__(self, database: Database, courses: Courses, platforms: Platforms, requests: PlatformRequests) -> None:
        self._database = database
        self._courses = courses
        self._platforms = platforms
        self._requests = requests

    async def run(self) -> None:
        """Send scores until cancelled."""
        await keep_working(self.send_due, "sending scores to learning platforms failed; trying again soon")

    async def send_due(self) -> int:
        """Try up to ten scores that are due. Returns how many were tried."""
        scores = await self._take()
        await asyncio.gather(*(self._try(each) for each in scores))
        return len(scores)

    async def _take(self) -> list[_Due]:
        row = ScoreRow
        is_due = and_(row.next_try_at <= now(), is_free(row))
        async with self._database.reading() as session:
            if await session.scalar(select(row.id).where(is_due).limit(1)) is None:
                return []
        async with self._database.writing() as session:
            leased = []
            for each in await lock(session, select(row).where(is_due).order_by(row.next_try_at).limit(_AT_ONCE)):
                link = await session.get_one(LinkRow, each.link_id)
                context = await session.get_one(ContextRow, link.context_id)
                if link.line_item is None or each.tries > len(PAUSES_S):
                    each.next_try_at = each.fence_token = each.lease_until = None
                    each.answer = each.answer or "the platform has no column for it"
                    continue
                each.tries += 1
                token = take(each, _LEASE)
                platform = await self._platforms.get_in(session, context.platform_id)
                about = (each.user_id, each.subject, link.problem, link.assignment_id, link.line_item)
                leased.append(_Due(each.id, token, each.tries, *about, platform))
            return leased

    async def _try(self, due: _Due) -> None:
        arrived, answer = False, ""
        try:
            score = await self._score(due)
            if score is None:
                arrived, answer = True, "nothing to send yet"
            else:
                status = await self._requests.score(due.platform, due.line_item, score)
                arrived, answer = 200 <= status < 300, f"HTTP {status}"
        except PlatformFailed as failure:
            answer = str(failure)
        except FAULTS as error:
            answer = f"not delivered: {fault_text(error)}"
        await self._record(due, arrived, answer)

    async def _score(self, due: _Due) -> dict[str, Any] | None:
        """https://www.imsglobal.org/spec/lti-ags/v2p0#score-publish-service"""
        points = await self._points(due)
        if points is None:
            return None
        return {
            "userId": due.subject,
            "scoreGiven": points[0],
            "scoreMaximum": points[1],
            "activityProgress": "Submitted",
            "gradingProgress": "FullyGraded",
            "timestamp": now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    async def _points(self, due: _Due) -> tuple[float, int] | None:
        """Points, and the most that there are. None while nothing counts."""
        if due.problem is not None:
            best = select(func.max(AttemptRow.score)).where(
                AttemptRow.user_id == due.user_id, AttemptRow.problem == due.problem, IS_SCORED
            )
            async with self._database.reading() as session:
                shown = await shown_only(session, user_id=due.user_id, problem=due.problem)
                score = await session.scalar(best.where(*shown))
            return None if score is None else (score, 100)
        async with self._database.reading() as session:
            row = await session.get(AssignmentRow, due.assignment_id)
            course_row = await session.get(CourseRow, row.course_id) if row else None
        if course_row is None:
            return None
        course = self._courses.view(course_row)
        assignments = [each for each in await self._courses.assignments(course) if each.id == due.assignment_id]
        columns = columns_of(assignments)
        lines = await gradebook(self._database, course, columns, only=due.user_id)
        if not lines or all(cell.points is None for cell in lines[0].cells):
            return None
        return lines[0].total, sum(each.points for each in columns)

    async def _record(self, due: _Due, arrived: bool, answer: str) -> None:
        # The platform shows scores to students, so what an exam hides is sent when it has closed.
        async with self._database.reading() as session:
            again = await withheld_from(session, due.user_id)
        if again is None and not arrived and due.tries <= len(PAUSES_S):
            again = now() + timedelta(seconds=PAUSES_S[due.tries - 1])
        values = {"next_try_at": again, "delivered_at": now() if arrived else None, "answer": answer[:200]}
        async with self._database.writing() as session:
            # `False` if a new verdict made it due again meanwhile, or if another process took it after too long.
            await write(session, ScoreRow, due.id, due.fence_token, **FREE, **values)
