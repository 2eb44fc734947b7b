"""What insight reads of each attempt: no source, and no whole verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.accounts.models import UserRow
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import ALL_EXAMS, SeenExams, shown_only
from app.teaching.courses.models import MemberRow
from grader.core.reasons import Reason

# The newest ones. Beyond it, an overview no longer changes, and reading takes seconds.
MOST = 20_000


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """One thing that a student sent. `failed_checks` and `failed_cases` are ids in the order of the verdict.

    `signs` and `fingerprint` are what was measured (app/grading/queue/fault_signature.py).
    """

    id: str
    user_id: str
    kind: str
    version: str
    status: str | None
    reason: Reason | None
    counts: bool
    created_at: datetime
    failed_checks: tuple[str, ...] = ()
    failed_cases: tuple[str, ...] = ()
    misconception: str | None = None
    signs: tuple[str, ...] = ()
    fingerprint: str | None = None

    @property
    def is_accepted(self) -> bool:
        return self.counts and self.kind == "attempt" and self.status == "accepted"

    @property
    def is_rejected(self) -> bool:
        return self.counts and self.kind == "attempt" and self.status == "rejected"


async def read_facts(
    database: Database, problem: str, course_id: str | None = None, seen: SeenExams = ALL_EXAMS
) -> list[AttemptFacts]:
    """Everything that students, or those of the course, have sent to the problem, oldest first, without attempts whose
    verdict the reader, who sees that of the exams `seen`, does not see. One query, and one more if not all are seen.
    """
    row = AttemptRow
    query = (
        select(
            row.id,
            row.user_id,
            row.kind,
            row.version,
            row.verdict_status,
            row.verdict_reason,
            row.after_giving_up,
            row.created_at,
            row.faults,
        )
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.problem == problem, row.kind != "rejudge", UserRow.role == "student", row.guest.is_(None))
        .order_by(row.created_at.desc(), row.id.desc())
        .limit(MOST)
    )
    if course_id is not None:
        members = select(MemberRow.user_id).where(MemberRow.course_id == course_id, MemberRow.role == "student")
        query = query.where(row.user_id.in_(members))
    async with database.reading() as session:
        rows = (await session.execute(query.where(*await shown_only(session, problem=problem, seen=seen)))).all()
    return [_facts(*each) for each in reversed(rows)]


def _facts(
    attempt_id: str,
    user_id: str,
    kind: str,
    version: str,
    status: str | None,
    reason: Reason | None,
    after_giving_up: bool,
    created_at: datetime,
    faults: Mapping[str, Any] | None,
) -> AttemptFacts:
    known = faults or {}
    return AttemptFacts(
        id=attempt_id,
        user_id=user_id,
        kind=kind,
        version=version,
        status=status,
        reason=reason,
        counts=not after_giving_up,
        created_at=created_at,
        failed_checks=tuple(known.get("checks", ())),
        failed_cases=tuple(known.get("cases", ())),
        misconception=known.get("misconception"),
        signs=tuple(known.get("signs", ())),
        fingerprint=known.get("fingerprint"),
    )
