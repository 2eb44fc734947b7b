"""Points that an instructor changes by hand, and changes back. The verdict stays as the judge gave it.

The points count in best scores, gradebooks and what learning platforms receive. Whether an attempt is accepted, and its
place in a ranking, remain the verdict's.

Points that an instructor or an owner gave are changed again only by somebody whose role is at least theirs.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_REASON, record
from app.accounts.caller import User
from app.accounts.givers import GIVEN_BY, Giver, change_refusal, giver_of
from app.accounts.models import UserRow
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database, select_rows
from app.core.errors import AttemptNotFound, FieldInvalid, OverrideNotFound, OverrideRefused, RoleMissing
from app.core.prepared_select import PreparedSelect
from app.core.view import View
from app.grading.queue.models import AttemptRow
from app.grading.queue.score_overrides import OverrideRow

MOST_POINTS = 100


class ScoreOverride(View):
    """Points that `by` gave by hand, and those of the verdict; null if it has none. `by` is null once the account is
    deleted."""

    score: int
    score_before: int | None
    by: str | None
    at: datetime
    reason: str


# Built once: building a statement takes as long as executing it, and every page of an attempt needs it.
_OVERRIDE = PreparedSelect(
    select(OverrideRow.score, UserRow.name.label("by"), OverrideRow.at, OverrideRow.reason)
    .outerjoin(UserRow, UserRow.id == OverrideRow.user_id)
    .where(OverrideRow.attempt_id == bindparam("attempt_id"))
)


async def override_of(session: AsyncSession, attempt: AttemptRow) -> ScoreOverride | None:
    """How the points of an attempt were changed by hand, if they were."""
    if attempt.verdict is None:
        return None
    found = (await select_rows(session, _OVERRIDE, {"attempt_id": attempt.id})).one_or_none()
    return None if found is None else ScoreOverride(**found._mapping, score_before=_of_verdict(attempt))


class Overrides:
    """Safe to share between requests.

    The routes decide whose attempts a caller may read, and so grade (app/teaching/people).
    """

    def __init__(self, database: Database, on_changed: Callable[[AsyncSession, str], Awaitable[None]]) -> None:
        self._database = database
        self._on_changed = on_changed

    async def refusal(self, actor: User, attempt_id: str) -> RoleMissing | None:
        """Why this caller cannot change the points again; None if they can."""
        async with self._database.reading() as session:
            row = await session.get(OverrideRow, attempt_id)
            return None if row is None else change_refusal(actor, await giver_of(session, row.user_id))

    async def override(self, actor: User, attempt_id: str, score: int, reason: str) -> ScoreOverride:
        """Give an attempt these points. A further override replaces the previous one.

        Raises:
          FieldInvalid: there is no reason.
          OverrideRefused: it has no verdict, its points count nowhere, or the verdict gives just these points.
          RoleMissing: the previous override is by somebody with a higher role.
        """
        if not 0 <= score <= MOST_POINTS:
            raise FieldInvalid(f"score: must be a whole number from 0 to {MOST_POINTS}.")
        reason = check_line("reason", reason, LONGEST_REASON)
        async with self._database.writing() as session:
            attempt = await _attempt(session, attempt_id)
            _require_points(attempt)
            if score == _of_verdict(attempt):
                raise OverrideRefused(f"{score} is what the verdict gives. Enter different points, or undo the change.")
            row = await session.get(OverrideRow, attempt.id)
            giver = None if row is None else await _changeable(session, actor, row)
            if row is None:
                row = OverrideRow(attempt_id=attempt.id, whom_id=attempt.user_id)
                session.add(row)
            row.user_id, row.score, row.reason, row.at = actor.id, score, reason, now()
            await self._change(session, actor, attempt, giver, score, reason)
            await session.flush()
            override = await override_of(session, attempt)
        if override is None:
            raise AssertionError(f"the override of {attempt_id} was written in this transaction")
        return override

    async def undo(self, actor: User, attempt_id: str) -> None:
        """The points of the verdict count again. Raises `OverrideNotFound`, and `RoleMissing` as `override` does."""
        async with self._database.writing() as session:
            attempt = await _attempt(session, attempt_id)
            row = await session.get(OverrideRow, attempt.id)
            if row is None:
                raise OverrideNotFound(
                    "The points of this attempt are those of its verdict, so there is nothing to undo."
                )
            giver = await _changeable(session, actor, row)
            await session.delete(row)
            await self._change(session, actor, attempt, giver, _of_verdict(attempt), "")

    async def _change(
        self,
        session: AsyncSession,
        actor: User,
        attempt: AttemptRow,
        giver: Giver | None,
        score: int | None,
        reason: str,
    ) -> None:
        """`giver` is the role of the person who gave the points that are replaced; None if they are the verdict's."""
        # No name: an entry outlives the account of the person whose points it replaces.
        before = _in_words(attempt.score) + (f" by {GIVEN_BY[giver]}" if giver else "")
        detail = f"{before} to {_in_words(score)}, attempt {attempt.id} at {attempt.problem}"
        record(session, actor, "score-changed", attempt.user_id, reason, detail)
        attempt.score = score
        await session.flush()
        await self._on_changed(session, attempt.id)


async def _changeable(session: AsyncSession, actor: User, row: OverrideRow) -> Giver:
    """The role of the person who gave the points. Raises `RoleMissing` if the actor must not change them."""
    giver = await giver_of(session, row.user_id)
    if (refusal := change_refusal(actor, giver)) is not None:
        raise refusal
    return giver


async def _attempt(session: AsyncSession, attempt_id: str) -> AttemptRow:
    attempt = await session.get(AttemptRow, attempt_id, with_for_update=True)
    if attempt is None:
        raise AttemptNotFound("This attempt was deleted with the account of its author.")
    return attempt


def _require_points(attempt: AttemptRow) -> None:
    if attempt.kind != "attempt":
        raise OverrideRefused("A run has no points. Change those of an attempt.")
    if attempt.verdict is None:
        raise OverrideRefused("It has no verdict, and so no points. Wait until it has been graded.")
    if attempt.after_giving_up:
        raise OverrideRefused("It was submitted after giving up, so it counts nowhere, whatever its points.")


def _of_verdict(attempt: AttemptRow) -> int | None:
    score = (attempt.verdict or {}).get("score")
    return score if isinstance(score, int) else None


def _in_words(score: int | None) -> str:
    return "no points" if score is None else f"{score} {'point' if score == 1 else 'points'}"
