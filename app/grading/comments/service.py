"""Comments on lines of attempts: instructors and assistants write them, and the attempt's owner resolves them.

The only writer of that table. The routes decide which attempts a caller may read, and so comment on
(app/teaching/people).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, case, delete, func, select, update

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.text_rules import check_text
from app.core.clock import now
from app.core.database import Database, select_rows
from app.core.errors import CommentNotFound, LineNotFound, RoleMissing, TooManyComments
from app.core.ids import is_id, new_id
from app.core.prepared_select import PreparedSelect
from app.core.view import View
from app.grading.comments.models import CommentRow
from app.grading.queue.models import AttemptRow

LONGEST = 2000
_MOST = 100
_MOST_NAMED = 5


class Comment(View):
    """A comment on a line. `author` is null once the account is deleted. `resolved_at` is null while it is open."""

    id: str
    attempt_id: Annotated[str, Field(exclude=True)]
    line: int
    text: str
    author_id: Annotated[str | None, Field(exclude=True)]
    author: str | None
    created_at: datetime
    resolved_at: datetime | None
    # Whether its reader has not seen it.
    is_new: Annotated[bool, Field(exclude=True)]


@dataclass(frozen=True, slots=True)
class CommentCount:
    """The comments on one attempt. Its owner has not seen `unseen` of them."""

    total: int
    unseen: int


@dataclass(frozen=True, slots=True)
class Commented:
    """An attempt that has comments."""

    id: str
    problem: str
    created_at: datetime


_row = CommentRow
_COMMENTS = select(
    _row.id,
    _row.attempt_id,
    _row.line,
    _row.text,
    _row.user_id,
    UserRow.name,
    _row.created_at,
    _row.resolved_at,
    _row.seen_at.is_(None),
).outerjoin(UserRow, UserRow.id == _row.user_id)

# Built once, like those above: building a statement takes as long as executing it, and pages of attempts need them.
_OF_ATTEMPT = PreparedSelect(
    _COMMENTS.where(_row.attempt_id == bindparam("attempt_id")).order_by(_row.line, _row.created_at, _row.id)
)
_COUNTS = PreparedSelect(
    select(_row.attempt_id, func.count(), func.sum(case((_row.seen_at.is_(None), 1), else_=0)))
    .where(_row.attempt_id.in_(bindparam("attempt_ids", expanding=True)))
    .group_by(_row.attempt_id)
)
_UNSEEN = PreparedSelect(
    select(AttemptRow.id, AttemptRow.problem, AttemptRow.created_at)
    .where(AttemptRow.id.in_(select(_row.attempt_id).where(_row.whom_id == bindparam("owner"), _row.seen_at.is_(None))))
    .order_by(AttemptRow.created_at.desc(), AttemptRow.id)
    .limit(_MOST_NAMED)
)


class Comments:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, author: User, whom_id: str, attempt_id: str, source: str, line: int, text: str) -> Comment:
        """Comment on a line of `source`, which is that attempt's and belongs to `whom_id`.

        Raises:
          LineNotFound: the source has no such line.
          FieldInvalid: there is no text, or too much.
          TooManyComments: the attempt has a hundred.
        """
        last = len(lines_of(source))
        if not 1 <= line <= last:
            raise LineNotFound(f"The source has the lines 1 to {last}, and no line {line}.")
        text = check_text("text", text, LONGEST)
        comment_id = new_id()
        async with self._database.writing() as session:
            query = select(func.count()).select_from(CommentRow).where(CommentRow.attempt_id == attempt_id)
            if (await session.scalar(query) or 0) >= _MOST:
                raise TooManyComments(f"This attempt already has {_MOST} comments. Remove one of them first.")
            session.add(
                CommentRow(
                    id=comment_id,
                    user_id=author.id,
                    whom_id=whom_id,
                    attempt_id=attempt_id,
                    line=line,
                    text=text,
                    created_at=now(),
                )
            )
            record(session, author, "comment-added", whom_id, "", f"line {line} of attempt {attempt_id}")
        return await self.get(attempt_id, comment_id)

    async def of_attempt(self, attempt_id: str) -> list[Comment]:
        """By line, the oldest first."""
        async with self._database.reading() as session:
            rows = await select_rows(session, _OF_ATTEMPT, {"attempt_id": attempt_id})
            return [Comment.of_columns(*each) for each in rows]

    async def get(self, attempt_id: str, comment_id: str) -> Comment:
        """Raises `CommentNotFound`, even if it exists on another attempt."""
        if is_id(comment_id):
            query = _COMMENTS.where(CommentRow.id == comment_id, CommentRow.attempt_id == attempt_id)
            async with self._database.reading() as session:
                found = (await session.execute(query)).first()
            if found is not None:
                return Comment.of_columns(*found)
        raise CommentNotFound(f"This attempt has no comment with the id {comment_id[:64]!r}.")

    async def see(self, attempt_id: str) -> None:
        """Record that the attempt's owner has seen its comments."""
        async with self._database.writing() as session:
            await session.execute(
                update(CommentRow)
                .where(CommentRow.attempt_id == attempt_id, CommentRow.seen_at.is_(None))
                .values(seen_at=now())
            )

    async def resolve(self, attempt_id: str, comment_id: str, *, is_resolved: bool) -> Comment:
        """Mark as resolved, or open again. Raises `CommentNotFound`."""
        await self.get(attempt_id, comment_id)
        async with self._database.writing() as session:
            moment = now()
            values = {
                # The time of the first resolution stays.
                "resolved_at": func.coalesce(CommentRow.resolved_at, moment) if is_resolved else None,
                "seen_at": func.coalesce(CommentRow.seen_at, moment),
            }
            await session.execute(update(CommentRow).where(CommentRow.id == comment_id).values(values))
        return await self.get(attempt_id, comment_id)

    async def remove(self, actor: User, whom_id: str, attempt_id: str, comment_id: str) -> None:
        """Raises `CommentNotFound`, or `RoleMissing`: only its author and owners remove a comment."""
        comment = await self.get(attempt_id, comment_id)
        if not may_remove(actor, comment):
            raise RoleMissing("Only the author of a comment and owners can remove it.")
        async with self._database.writing() as session:
            gone = await session.scalar(delete(CommentRow).where(CommentRow.id == comment.id).returning(CommentRow.id))
            if gone is not None:
                detail = f"line {comment.line} of attempt {attempt_id}"
                record(session, actor, "comment-removed", whom_id, "", detail)

    async def unseen(self, owner: User) -> list[Commented]:
        """The owner's attempts with comments that they have not seen, newest attempt first. At most five."""
        async with self._database.reading() as session:
            return [Commented(*each) for each in await select_rows(session, _UNSEEN, {"owner": owner.id})]

    async def counts(self, attempt_ids: Sequence[str]) -> dict[str, CommentCount]:
        """By attempt, without those that have none. One query."""
        if not attempt_ids:
            return {}
        async with self._database.reading() as session:
            rows = await select_rows(session, _COUNTS, {"attempt_ids": attempt_ids})
            return {each[0]: CommentCount(each[1], int(each[2])) for each in rows}


def lines_of(source: str) -> list[str]:
    """The lines of a source, as a page numbers them: a line break at the end does not begin another line."""
    return source.replace("\r\n", "\n").removesuffix("\n").split("\n")


def may_remove(actor: User, comment: Comment) -> bool:
    return actor.role == "owner" or actor.id == comment.author_id
