"""Submits, reads, lists and cancels attempts."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, String, bindparam, exists, null, select, tuple_
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import end_of_minute
from app.core.database import Database, UTCDateTime, select_rows
from app.core.errors import (
    AttemptFinished,
    AttemptNotFound,
    IdempotencyKeyReused,
    NotSignedIn,
    ProblemNotFound,
    TooManyWaiting,
)
from app.core.prepared_select import PreparedSelect
from app.core.rest.paging import Cursor, Page, paged
from app.grading.attempts.filter import EVERYTHING, AttemptFilter
from app.grading.attempts.give_up import is_after_giving_up
from app.grading.attempts.overrides import override_of
from app.grading.attempts.questions import name_question
from app.grading.attempts.source_rules import check_source
from app.grading.attempts.submission_limits import Gate, NoGate
from app.grading.attempts.views import AttemptJSON, AttemptSummary, AttemptViews
from app.grading.owned_work import UsersWork, WorkLimits
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.score_overrides import OverrideRow
from app.grading.queue.status import AttemptKind, Glance
from app.grading.queue.walls import Walls
from app.grading.queue.withheld_verdicts import NO_EXAM, SeenExams, WithheldRow, shown_only, withheld_until
from app.problems.catalogue import Catalogue
from grader.inputs.own_inputs import OwnInputs
from grader.package.package import Package

# What a request with the same idempotency key must repeat.
_SAME = ("problem", "kind", "source", "own_inputs")
_IS_SHOWN = AttemptRow.kind != "rejudge"


_STORED = [each for each in AttemptSummary.model_fields if each not in ("changed_by_hand", "withheld_until")]
_LIST: Select[Any] = select(
    *(getattr(AttemptRow, each) for each in _STORED), exists().where(OverrideRow.attempt_id == AttemptRow.id), null()
).where(_IS_SHOWN)
# Built once: building a statement takes longer than executing it, and pages of problems and attempts need these.
_BY = (AttemptRow.created_at, AttemptRow.id)
_OF_USER = AttemptRow.user_id == bindparam("user_id")
_AT_PROBLEM = AttemptRow.problem == bindparam("problem")
_NEWEST_ROWS = (
    _LIST.add_columns(AttemptRow.id)
    .where(_OF_USER)
    .order_by(*(each.desc() for each in _BY))
    .limit(bindparam("most", type_=Integer()))
)
_NEWEST = PreparedSelect(_NEWEST_ROWS)
_NEWEST_AT_PROBLEM = PreparedSelect(_NEWEST_ROWS.where(_AT_PROBLEM))
_EARLIER = PreparedSelect(
    select(AttemptRow.id)
    .where(_IS_SHOWN, _OF_USER, _AT_PROBLEM)
    .where(tuple_(*_BY) < tuple_(bindparam("created_at", type_=UTCDateTime()), bindparam("attempt_id", type_=String())))
    .order_by(*(each.desc() for each in _BY))
    .limit(1)
)
_STARTERS = PreparedSelect(
    select(AttemptRow.id, AttemptRow.problem, AttemptRow.source).where(
        _OF_USER,
        AttemptRow.id.in_(bindparam("attempt_ids", expanding=True)),
        AttemptRow.source.in_(bindparam("starters", expanding=True)),
    )
)


class Attempts(UsersWork[AttemptRow]):
    """Attempts and runs. A verdict may be withheld, so what is shown of a row is not in the row alone."""

    rows = AttemptRow
    too_many = TooManyWaiting
    unknown_here = "This browser has sent no run with this id. If it is one of your attempts, sign in."

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        views: AttemptViews,
        queue: GradeQueue,
        events: WorkEvents,
        walls: Walls,
        limits: WorkLimits,
        gate: Gate | None = None,
        next_id: Callable[[Package], str | None] = lambda _: None,
    ) -> None:
        """`next_id` gives an id for an attempt that is then graded sooner than one with any other id, or None."""
        super().__init__(database, limits, queue.enqueue)
        self.most_unfinished = limits.max_waiting_per_user
        self._catalogue = catalogue
        self._views = views
        self._queue = queue
        self._walls = walls
        self._gate = gate or NoGate()
        self._next_id = next_id
        self.events = events

    def not_found(self, work_id: str) -> AttemptNotFound:
        return AttemptNotFound(f"You have no attempt with the id {work_id!r}.")

    def too_many_because(self, user: User, unfinished: int) -> str:
        if user.guest is not None:
            return (
                f"{unfinished} runs without an account are waiting from your network, which is the maximum. Try again "
                "in a moment, or sign in."
            )
        return (
            f"You have {unfinished} attempts waiting for a verdict, which is the maximum. "
            "Wait for one of them, or cancel one."
        )

    def competing(self) -> Sequence[ColumnElement[bool]]:
        return (AttemptRow.share == bindparam("share"),)

    def _query(self) -> Select[AttemptRow]:
        return super()._query().where(_IS_SHOWN)

    async def submit(
        self,
        user: User,
        slug: str,
        source: str,
        kind: AttemptKind,
        idempotency_key: str | None = None,
        own_inputs: OwnInputs | None = None,
    ) -> AttemptJSON:
        """Store the source and queue it for grading, either both or neither.

        Only a run may have `own_inputs`. A user who sends an `idempotency_key` again gets the attempt that was created
        the first time.

        Raises:
          ProblemNotFound, SourceRefused, TooManyWaiting, and what `name_question` raises.
          NotSignedIn: a guest may only run. TooManyGuestRuns.
          NoAttemptsLeft, CoolDown: an assignment of one of their courses limits attempts.
          ExamNotStarted, ExamTimeOver, AddressRefused: an exam of theirs does not admit attempts and runs now.
          IdempotencyKeyReused: the key was sent before with another source, problem or kind.
          GradingRefused: a wall is missing, so the attempt would never be graded.
        """
        if user.guest is not None:
            if kind != "run":
                raise NotSignedIn("To submit, sign in. Without an account you can only run.")
            # Keys belong to a user, and all guests are one.
            idempotency_key = None
        package = self._catalogue.get(slug)
        check_source(source, self._limits.max_source_bytes)
        self._walls.require()
        row = self._new(
            user,
            work_id=self._next_id(package) if kind == "attempt" else None,
            problem=package.slug,
            version=package.version,
            kind=kind,
            source=source,
            variant=package.variant_name,
            idempotency_key=idempotency_key,
            own_inputs=own_inputs.stored() if own_inputs and kind == "run" else None,
        )
        try:
            async with self._database.writing() as session:
                await name_question(session, user, package, row)
                earlier = await self._earlier(session, row)
                if earlier is None:
                    await self._admit(session, user)
                    withheld = await self._pass_gate(session, user, row)
                    await self._enqueue(session, row)
                    await session.flush()
                    session.add_all(withheld)
        except IntegrityError:
            # The key was sent twice at once. On PostgreSQL, both looked before either stored it; now the other one has.
            async with self._database.reading() as session:
                if (earlier := await self._earlier(session, row)) is None:
                    raise
        if earlier is not None:
            return await self.get(user, earlier.id)
        self.events.note(row.id, Change("queued", None))
        until = max((end_of_minute(each.until) for each in withheld), default=None)
        return self._views.of(row, withheld_until=until, queue=await self._queue.place(row))

    async def _pass_gate(self, session: AsyncSession, user: User, row: AttemptRow) -> Sequence[WithheldRow]:
        """Refuse what is over a limit of a course. Returns the rows that keep its verdict back during exams."""
        if row.kind != "attempt":
            await self._gate.admit_run(session, user, row)
            return []
        withheld = await self._gate.admit(session, user, row)
        row.after_giving_up = await is_after_giving_up(session, row)
        return withheld

    async def get(self, user: User, attempt_id: str, *, placed: bool = True, seen: SeenExams = NO_EXAM) -> AttemptJSON:
        """Without `placed`, omits its place in the queue. `seen` are the exams whose verdicts its reader sees.

        Raises:
          AttemptNotFound: also if it exists for another user.
          NotSignedIn: the same for a guest, who may be a user that has signed out.
        """
        async with self._database.reading() as session:
            row = await self._find(session, user, attempt_id)
            until = await withheld_until(session, [row.id], user_id=row.user_id, seen=seen)
            override = await override_of(session, row)
        place = await self._queue.place(row) if placed else None
        return self._views.of(row, withheld_until=until.get(row.id), queue=place, override=override)

    async def glance(self, attempt_id: str) -> Glance | None:
        """The status and place of an attempt that its reader waits for. None if it was deleted."""
        return await self._queue.glance(attempt_id)

    async def list(
        self,
        user: User,
        cursor: Cursor,
        problem: str | None = None,
        *,
        only: AttemptFilter = EVERYTHING,
        seen: SeenExams = NO_EXAM,
        within: frozenset[str] | None = None,
    ) -> Page[AttemptSummary]:
        """The user's attempts and runs, newest first.

        With `only`, lists those that the filter matches, and with `within`, those at these problems. `seen` are the
        exams whose verdicts the reader sees. For a guest the list is empty: it would be all guests' runs.

        Raises:
          AttemptNotFound: the cursor names no attempt of this user.
        """
        if user.guest is not None:
            return Page()
        row = AttemptRow
        conditions = list(only.conditions())
        if problem := only.problem or problem:
            conditions.append(row.problem == problem)
        if within is not None:
            conditions.append(row.problem.in_(within))
        query = _LIST.where(row.user_id == user.id)
        async with self._database.reading() as session:
            if only.reads_verdicts:
                conditions += await shown_only(session, user_id=user.id, seen=seen)
            if cursor.after is None and only == EVERYTHING and within is None:
                found = await _newest(session, user, problem, cursor)
            else:
                found = await paged(
                    session, query, _BY, cursor, AttemptSummary.of_columns, only=conditions, missing=self.not_found
                )
            until = await withheld_until(session, [each.id for each in found], user_id=user.id, seen=seen)
        return found.map(lambda each: each.withheld(until[each.id]) if each.id in until else each)

    async def earlier(self, user: User, attempt: AttemptJSON) -> str | None:
        """The id of the user's attempt or run at the same problem before this one. None for a guest, as in lists."""
        if user.guest is not None:
            return None
        values: dict[str, Any] = {"user_id": user.id, "problem": attempt.problem}
        values |= {"created_at": attempt.created_at, "attempt_id": attempt.id}
        async with self._database.reading() as session:
            found: str | None = (await select_rows(session, _EARLIER, values)).scalar()
            return found

    async def has_sent(self, user: User, slug: str, source: str) -> bool:
        """Whether the user has already sent this source at the problem, so that it is kept as an attempt or a run."""
        query = select(AttemptRow.id).where(
            AttemptRow.user_id == user.id, AttemptRow.problem == slug, AttemptRow.source == source, _IS_SHOWN
        )
        async with self._database.reading() as session:
            return await session.scalar(query.limit(1)) is not None

    async def unwritten(self, user: User, listed: Iterable[AttemptSummary]) -> frozenset[str]:
        """Ids of the rejected ones whose source is the starter as it was given: no solution was written yet."""
        rejected = [each for each in listed if each.verdict_status == "rejected"]
        starters = {slug: starter for slug in {each.problem for each in rejected} if (starter := self._starter(slug))}
        if not starters:
            return frozenset()
        values = {
            "user_id": user.id,
            "attempt_ids": [each.id for each in rejected],
            "starters": list(starters.values()),
        }
        async with self._database.reading() as session:
            found = await select_rows(session, _STARTERS, values)
            return frozenset(each.id for each in found if each.source == starters.get(each.problem))

    def _starter(self, slug: str) -> str | None:
        try:
            return self._catalogue.get(slug).starter
        except ProblemNotFound:  # withdrawn since
            return None

    async def cancel(self, user: User, attempt_id: str) -> AttemptJSON:
        """Stop a queued or running attempt. A cancelled one stays cancelled.

        Raises:
          AttemptNotFound.
          AttemptFinished: there is already a verdict.
        """
        view = await self.get(user, attempt_id)
        if not await self._queue.cancel(view.id) and (await self.get(user, view.id)).status == "finished":
            raise AttemptFinished("The attempt already has its verdict, so it can no longer be cancelled.")
        return await self.get(user, view.id)

    async def _earlier(self, session: AsyncSession, row: AttemptRow) -> AttemptRow | None:
        """The attempt that already has the user's idempotency key. Raises `IdempotencyKeyReused`."""
        if row.idempotency_key is None:
            return None
        earlier = await session.scalar(
            select(AttemptRow).where(
                AttemptRow.user_id == row.user_id, AttemptRow.idempotency_key == row.idempotency_key
            )
        )
        if earlier and any(getattr(earlier, each) != getattr(row, each) for each in _SAME):
            raise IdempotencyKeyReused(
                "This Idempotency-Key was already sent with another request, which created the "
                f"{earlier.kind} {earlier.id} at the problem {earlier.problem!r}. For a new source, send a new key."
            )
        return earlier


async def _newest(session: AsyncSession, user: User, problem: str | None, cursor: Cursor) -> Page[AttemptSummary]:
    """The first page of the user's attempts and runs, at one problem or at all. As `paged` finds it."""
    query = _NEWEST if problem is None else _NEWEST_AT_PROBLEM
    # One more than the limit shows whether there is another page.
    values: dict[str, Any] = {"user_id": user.id, "most": cursor.limit + 1}
    rows = (await select_rows(session, query, values if problem is None else {**values, "problem": problem})).all()
    return Page.cut(rows, cursor, lambda row: row[-1]).map(lambda row: AttemptSummary.of_columns(*row[:-1]))
