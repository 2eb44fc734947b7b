"""The audit log: what owners and instructors did to others. The only writer of that table.

An entry is written in the transaction of what it records, so neither exists without the other. It contains no secret.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts.audit.models import AuditRow
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database
from app.core.errors import AuditEntryNotFound
from app.core.ids import new_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.text_search import has_text
from app.core.view import View

LONGEST_REASON = 200
LONGEST_DETAIL = 200
_MOST_OF_PERSON = 100
_OfPeople = Literal[
    "role-changed",
    "deactivated",
    "reactivated",
    "password-reset",
    "comment-added",
    "comment-removed",
    "similarity-compared",
    "merged",
    "password-reset-by-operator",
    "assignment-extended",
    "score-changed",
    "cell-changed",
    "exported",
    "erasure-requested",
    "erased",
    "erased-by-rule",
    "course-member-added",
    "course-member-removed",
    "course-role-changed",
    "course-rights-changed",
    "course-staff-added",
    "course-staff-removed",
]
# What they did to problems, courses and the service: `whom` is None.
_OfProblems = Literal[
    "rejudge-applied",
    "assignment-created",
    "assignment-changed",
    "assignment-withdrawn",
    "categories-changed",
    "lti-platform-added",
    "lti-platform-changed",
    "lti-platform-removed",
    "lti-link-created",
    "lti-platform-registered",
    "lti-key-rotated",
    "lti-course-connected",
    "lti-course-disconnected",
    "lti-roster",
    "roster-imported",
    "roster-line-removed",
    "invitations-mailed",
    "similarity-read",
    "announced",
    "announcement-removed",
    "repository-added",
    "repository-removed",
    "problem-given",
    "problem-taken-back",
    "course-created",
    "course-changed",
    "course-archived",
    "course-opened-again",
    "course-deleted",
    "course-copied",
    "course-exported",
]
Action = Literal[_OfPeople, _OfProblems]
OF_PROBLEMS: frozenset[Action] = frozenset(get_args(_OfProblems))
ACTION_WORDS: dict[Action, str] = {
    "role-changed": "changed the role",
    "deactivated": "deactivated the account",
    "reactivated": "reactivated the account",
    "password-reset": "reset the password",
    "rejudge-applied": "applied a rejudge",
    "assignment-created": "created an assignment",
    "assignment-changed": "changed an assignment",
    "assignment-withdrawn": "withdrew an assignment",
    "categories-changed": "changed the categories of a course",
    "lti-platform-added": "registered a learning platform",
    "lti-platform-changed": "changed a learning platform",
    "lti-platform-removed": "removed a learning platform",
    "lti-link-created": "created a link with which a learning platform registers itself",
    "lti-platform-registered": "let a learning platform register itself by a link",
    "lti-key-rotated": "created a new LTI key",
    "lti-course-connected": "connected a course with a learning platform",
    "lti-course-disconnected": "disconnected a course from a learning platform",
    "lti-roster": "imported the roster of a learning platform",
    "roster-imported": "imported a roster",
    "roster-line-removed": "removed a person from a roster",
    "invitations-mailed": "mailed invitations",
    "comment-added": "commented on an attempt",
    "comment-removed": "removed a comment",
    "similarity-read": "read the similarity report",
    "similarity-compared": "compared a submission with another",
    "merged": "merged an account into this one",
    "password-reset-by-operator": "reset the password from the command line",
    "assignment-extended": "changed extra time or attempts",
    "announced": "posted an announcement",
    "announcement-removed": "removed an announcement",
    "score-changed": "changed the points of an attempt",
    "cell-changed": "changed a cell of the gradebook",
    "repository-added": "registered a repository",
    "repository-removed": "removed a repository",
    "exported": "exported all data about the account",
    "erasure-requested": "asked for the erasure of the account",
    "erased": "erased the account",
    "erased-by-rule": "erased the account because of a rule",
    "problem-given": "gave a course a version of a problem",
    "problem-taken-back": "took a version of a problem back from a course",
    "course-created": "created a course",
    "course-changed": "changed a course",
    "course-archived": "archived a course",
    "course-opened-again": "opened an archived course again",
    "course-deleted": "deleted a course",
    "course-member-added": "added to a course",
    "course-member-removed": "removed from a course",
    "course-role-changed": "changed the role in a course",
    "course-rights-changed": "changed the rights of an assistant",
    "course-staff-added": "made an instructor of a course",
    "course-staff-removed": "removed from the instructors of a course",
    "course-copied": "copied a course",
    "course-exported": "exported a course",
}
# What the operator did on the command line or by a setting: `actor` is None.
OF_OPERATOR: frozenset[Action] = frozenset({"password-reset-by-operator", "erased-by-rule"})


class Party(View):
    id: str
    name: str


class AuditEntry(View):
    """`actor` and `whom` are null once their account is deleted. `whom` is also null for what was done to a problem,
    a course or the service, and `actor` for what the operator did on the command line or by a setting."""

    id: str
    at: datetime
    actor: Party | None
    action: Action
    whom: Party | None
    detail: str
    reason: str

    @property
    def is_of_problem(self) -> bool:
        return self.action in OF_PROBLEMS

    @property
    def is_of_operator(self) -> bool:
        return self.action in OF_OPERATOR


def check_reason(reason: str) -> str:
    """The reason as it is stored. Raises `FieldInvalid`."""
    return check_line("reason", reason, LONGEST_REASON, empty=True)


def record(
    session: AsyncSession,
    actor: User | None,
    action: Action,
    whom_id: str | None,
    reason: str,
    detail: str = "",
    course_id: str | None = None,
) -> None:
    """Write an entry in the caller's transaction. `reason` comes from `check_reason`, and `course_id` is the course
    that it was done in.

    Without an `actor`, the operator did it on the command line.
    """
    session.add(
        AuditRow(
            id=new_id(),
            at=now(),
            user_id=actor.id if actor else None,
            whom_id=whom_id,
            action=action,
            detail=detail,
            reason=reason,
            course_id=course_id,
        )
    )


class AuditLog:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self, cursor: Cursor, about: str | None = None, *, course_id: str | None = None, q: str = ""
    ) -> Page[AuditEntry]:
        """Newest first. `about` is the id of the person it concerns, `course_id` the course that it was done in, and
        `q` a part of a name, of what was done, or of a reason. Raises `AuditEntryNotFound` for the cursor.
        """
        row, actor, whom = AuditRow, aliased(UserRow), aliased(UserRow)
        query = (
            select(row, actor.name, whom.name)
            .outerjoin(actor, actor.id == row.user_id)
            .outerjoin(whom, whom.id == row.whom_id)
        )
        only = [] if about is None else [or_(row.whom_id == about, row.user_id == about)]
        if q:
            done = [each for each, words in ACTION_WORDS.items() if q.casefold() in words.casefold()]
            texts = (actor.name, whom.name, row.detail, row.reason)
            only.append(or_(has_text(q, texts), row.action.in_(done)))
        if course_id is not None:
            query = query.where(row.course_id == course_id)
        async with self._database.reading() as session:
            return await paged(session, query, (row.at, row.id), cursor, _entry, only=only, missing=_not_found)

    async def of_person(self, whom_id: str, endings: Mapping[Action, str]) -> Sequence[AuditEntry]:
        """The newest entries about this person whose details end as given for their action, newest first."""
        row, actor, whom = AuditRow, aliased(UserRow), aliased(UserRow)
        ends = [and_(row.action == each, row.detail.endswith(text, autoescape=True)) for each, text in endings.items()]
        query = (
            select(row, actor.name, whom.name)
            .outerjoin(actor, actor.id == row.user_id)
            .outerjoin(whom, whom.id == row.whom_id)
            .where(row.whom_id == whom_id, or_(*ends))
            .order_by(row.at.desc(), row.id.desc())
            .limit(_MOST_OF_PERSON)
        )
        async with self._database.reading() as session:
            return [_entry(*each) for each in await session.execute(query)]

    async def details(self, action: Action, since: datetime) -> frozenset[str]:
        """The details of the newest two hundred entries of this action since then."""
        row = AuditRow
        query = select(row.detail).where(row.at > since, row.action == action).order_by(row.at.desc()).limit(200)
        async with self._database.reading() as session:
            return frozenset(await session.scalars(query))


def _party(user_id: str | None, name: str | None) -> Party | None:
    return None if user_id is None or name is None else Party(id=user_id, name=name)


def _entry(row: AuditRow, actor: str | None, whom: str | None) -> AuditEntry:
    return AuditEntry.read_from(row, actor=_party(row.user_id, actor), whom=_party(row.whom_id, whom))


def _not_found(entry_id: str) -> AuditEntryNotFound:
    return AuditEntryNotFound(f"The audit log has no entry {entry_id!r}.")
