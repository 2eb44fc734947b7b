"""Sends scores to platforms.

What is sent is the score at that moment, so a row says only that there is something to send. A new verdict makes the
row due again and takes it from a process that is sending it.
"""

from dataclasses import replace
from typing import Any

from sqlalchemy import String, and_, exists, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import IdentityRow
from app.core.clock import now
from app.core.database import Database
from app.core.outbound_requests import FAULTS
from app.core.outbox import Outbox, Outcome, Owners
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only, withheld_from
from app.teaching.courses.gradebook import columns_of, gradebook
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow
from app.teaching.courses.service import Courses
from app.teaching.lti.errors import PlatformFailed
from app.teaching.lti.launches import expect_score
from app.teaching.lti.models import ContextRow, LinkRow, PlatformRow, ScoreRow
from app.teaching.lti.platform_requests import PlatformRequests, fault_text
from app.teaching.lti.platforms import Platforms, identity_issuer

PAUSES_S = (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
# Of the ten scores that a process tries to send at a time: a platform that does not respond leaves five to the others.
_AT_ONCE_PER_PLATFORM = 5
# A try that takes longer continues beside the next ones.
_TURN_S = 1.0


async def queue_scores(session: AsyncSession, attempt_id: str) -> None:
    """Make the scores due that an attempt's verdict may change, in the transaction that stores the verdict."""
    attempt = (
        await session.execute(
            select(AttemptRow.user_id, AttemptRow.problem).where(AttemptRow.id == attempt_id, IS_SCORED)
        )
    ).one_or_none()
    if attempt is None:
        return
    await queue_scores_of(session, *attempt)


async def queue_scores_of(session: AsyncSession, user_id: str, problem: str) -> None:
    """Make the scores due that this student has at this problem, in the transaction that changes their points."""
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


class ScoreSender:
    """Makes and sends the scores of its `outbox`."""

    def __init__(self, database: Database, courses: Courses, platforms: Platforms, requests: PlatformRequests) -> None:
        platform = (
            select(ContextRow.platform_id)
            .join(LinkRow, LinkRow.context_id == ContextRow.id)
            .where(LinkRow.id == ScoreRow.link_id)
            .scalar_subquery()
        )
        self.outbox = Outbox(
            "scores to learning platforms",
            database,
            ScoreRow,
            self._send,
            pauses_s=PAUSES_S,
            owners=Owners(platform, _AT_ONCE_PER_PLATFORM),
            turn_s=_TURN_S,
        )
        self._database = database
        self._courses = courses
        self._platforms = platforms
        self._requests = requests

    async def _send(self, row: ScoreRow) -> Outcome:
        async with self._database.reading() as session:
            link = await session.get(LinkRow, row.link_id)
            if link is None or link.line_item is None:
                return Outcome(False, row.answer or "the platform has no column for it", is_sent=False)
            context = await session.get_one(ContextRow, link.context_id)
            platform = await self._platforms.get_in(session, context.platform_id)
        outcome = Outcome(True, "nothing to send yet")
        try:
            if score := await self._score(row, link):
                status = await self._requests.score(platform, link.line_item, score)
                outcome = Outcome(200 <= status < 300, f"HTTP {status}")
        except PlatformFailed as failure:
            outcome = Outcome(False, str(failure))
        except FAULTS as error:
            outcome = Outcome(False, f"not delivered: {fault_text(error)}")
        # The platform shows scores to students, so what an exam hides is sent when it has closed.
        async with self._database.reading() as session:
            return replace(outcome, again_at=await withheld_from(session, row.user_id))

    async def _score(self, row: ScoreRow, link: LinkRow) -> dict[str, Any] | None:
        """https://www.imsglobal.org/spec/lti-ags/v2p0#score-publish-service"""
        points = await self._points(row.user_id, link)
        if points is None:
            return None
        return {
            "userId": row.subject,
            "scoreGiven": points[0],
            "scoreMaximum": points[1],
            "activityProgress": "Submitted",
            "gradingProgress": "FullyGraded",
            "timestamp": now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    async def _points(self, user_id: str, link: LinkRow) -> tuple[float, float] | None:
        """Points, and the most that there are for this student. None while nothing counts."""
        if link.problem is not None:
            best = select(func.max(AttemptRow.score)).where(
                AttemptRow.user_id == user_id, AttemptRow.problem == link.problem, IS_SCORED
            )
            async with self._database.reading() as session:
                shown = await shown_only(session, user_id=user_id, problem=link.problem)
                score = await session.scalar(best.where(*shown))
            return None if score is None else (score, 100)
        async with self._database.reading() as session:
            row = await session.get(AssignmentRow, link.assignment_id)
            course_row = await session.get(CourseRow, row.course_id) if row else None
        if course_row is None:
            return None
        course = self._courses.view(course_row)
        assignments = [each for each in await self._courses.assignments(course) if each.id == link.assignment_id]
        columns = columns_of(assignments)
        lines = (await gradebook(self._database, course, columns, only=user_id)).items
        if not lines or all(cell.points is None for cell in lines[0].cells):
            return None
        # A platform takes no score of nothing, such as that of a student who is excused from all of it.
        return (lines[0].total, lines[0].possible) if lines[0].possible else None
