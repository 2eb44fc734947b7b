"""Work for the judge: the columns that all of its tables have, the attempts table, and the fair shares of its users.

The tables are the queue, through their turns, leases and fence tokens. Also the processes of the service, and the
shared deployment secret.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    TextClause,
    and_,
    false,
    literal,
    or_,
    text,
    true,
    type_coerce,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import now
from app.core.database import Base, FromNow, UTCDateTime
from app.core.lease import LeasedRow
from app.grading.queue.status import ENDED

# The conditions of partial indexes. Queries repeat them literally: with a parameter, the database could not know that
# the index contains every row of the query.
IS_WAITING = text("status IN ('queued', 'running')")
IS_SCORED = text("score IS NOT NULL")
IS_RANKED = text("efficiency IS NOT NULL")
IS_UNEXPLAINED = text("fingerprint IS NOT NULL")


def _partial(name: str, *columns: str, where: TextClause) -> Index:
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


class Turn(IntEnum):
    """The order within a round of the line (app/grading/queue/fair_share.py)."""

    WATCHED = 0
    ATTEMPT = 1
    VALIDATION = 2
    REJUDGE = 3


@dataclass(frozen=True, slots=True)
class KindOfWork:
    """Metrics have the `name`, and owners read `plural` on the page of the service."""

    name: str
    plural: str
    turn: Turn


class WorkRow(LeasedRow):
    """The columns of a table of work. A worker leases the row (app/core/lease.py). Two lines order all tables.

    `share` is who waits for it and takes turns with others: a user's id, unless it is set before `line_up`, which also
    sets `priority` and `turn_at`, the place in line (app/grading/queue/fair_share.py).
    """

    kinds: ClassVar[tuple[KindOfWork, ...]]

    share: Mapped[str | None] = mapped_column(String(80))
    status: Mapped[str] = mapped_column(String(16))
    priority: Mapped[int] = mapped_column(Integer(), default=0)
    turn_at: Mapped[datetime] = mapped_column(UTCDateTime(), default=now)
    tries: Mapped[int] = mapped_column(Integer())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())

    @classmethod
    def is_due(cls) -> ColumnElement[bool]:
        """Whether the row waits and may be taken."""
        return and_(cls.status == "queued", cls.is_ready())

    @classmethod
    def is_ready(cls) -> ColumnElement[bool]:
        """Whether the row may be taken if it waits."""
        return true()

    @classmethod
    def is_long(cls) -> ColumnElement[bool]:
        """Whether the work can take minutes. It waits in a line of its own, for slots that take nothing else."""
        return false()

    @property
    def long(self) -> bool:
        """Whether this work can take minutes."""
        return False

    @classmethod
    def works(cls) -> ColumnElement[str]:
        """The name of the kind of work of each row. A table with several kinds says it by a column."""
        [kind] = cls.kinds
        return literal(kind.name)

    @property
    def kind_of_work(self) -> KindOfWork:
        [kind] = self.kinds
        return kind


class OwnedRow(WorkRow):
    """The columns of a table of work that users send.

    All guests are one user (app/accounts/caller.py), and `guest` says which browser it belongs to.
    """

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    guest: Mapped[str | None] = mapped_column(String(64))

    @classmethod
    def is_forgettable(cls, guests: str) -> ColumnElement[bool]:
        """Whether the row is deleted after a day. `guests` is the id of the user that all guests are."""
        return cls.user_id == guests


def line_indexes(table: str) -> tuple[Index, Index]:
    """The indexes that the line needs of each table of work: on the places in it, and on the work of each share."""
    return (
        Index(f"ix_{table}_status_priority_turn_at_id", "status", "priority", "turn_at", "id"),
        _partial(f"ix_{table}_waiting", "share", "priority", where=IS_WAITING),
    )


class FairShareRow(Base):
    """The last round in which this share was served (app/grading/queue/fair_share.py), and `long_round` that of the
    line of what can take minutes. -1 and None if it never was.

    `user_id` is None for work of the service itself. Those of guests are deleted every hour.
    """

    __tablename__ = "fair_shares"

    share: Mapped[str] = mapped_column(String(80), primary_key=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    round: Mapped[int] = mapped_column(Integer(), index=True)
    long_round: Mapped[int | None] = mapped_column(Integer(), index=True)


class AttemptRow(OwnedRow, Base):
    """One requested grading. It is not taken before its `not_before`.

    `verdict_status`, `verdict_reason`, `score` and `efficiency` repeat the verdict for queries: whole verdicts are too
    long to read for a list, and PostgreSQL cannot query JSON with a NUL, which a submission may have printed. So do
    `faults`, for insight, of a rejected one: which checks and cases it failed, by id, its misconception, and what was
    measured (app/grading/queue/fault_signature.py). A run has no `score`. Only an accepted attempt has an `efficiency`,
    so only those are ranked. An attempt `after_giving_up` has neither, so it counts nowhere. A row of the kind
    `rejudge` has neither, and nobody sees it: its verdict becomes an attempt's (app/teaching/rejudging/), which then
    has a `score_before`.

    `own_inputs` are the fields of a run's OwnInputs (grader/inputs/own_inputs.py); None if it runs on the public
    cases.

    `variant` is the variant of the problem that its author had; None if the problem has none.

    `gradings` are the tries to grade it, for support (app/grading/queue/grading_tries.py).

    `fingerprint` is what a rejected attempt did (grader/verdicts/fingerprint.py), while no known mistake explains it.

    Each list has its own index, so it stays fast with any number of attempts: tests/app/grading/attempts/test_plans.py.
    """

    __tablename__ = "attempts"
    kinds = (
        KindOfWork("run", "Runs", Turn.WATCHED),
        KindOfWork("attempt", "Attempts", Turn.ATTEMPT),
        KindOfWork("rejudge", "Rejudges", Turn.REJUDGE),
    )
    __table_args__ = (
        Index("ix_attempts_user_id_created_at_id", "user_id", "created_at", "id"),
        *line_indexes("attempts"),
        Index("ix_attempts_finished_at", "finished_at"),
        # Both databases allow any number of NULLs.
        Index("ix_attempts_user_id_idempotency_key", "user_id", "idempotency_key", unique=True),
        Index("ix_attempts_user_id_problem_created_at_id", "user_id", "problem", "created_at", "id"),
        # For the list of people who have tried a problem.
        Index("ix_attempts_problem_user_id_created_at", "problem", "user_id", "created_at"),
        _partial("ix_attempts_unexplained", "problem", "id", where=IS_UNEXPLAINED),
        _partial("ix_attempts_judged", "problem", "version", where=IS_SCORED),
        # The last two also contain every column of a standing or a ranking, so no row has to be read.
        _partial("ix_attempts_scored", "user_id", "problem", "score", "verdict_status", where=IS_SCORED),
        # A gradebook needs nothing but this index.
        _partial("ix_attempts_graded", "user_id", "problem", "created_at", "score", where=IS_SCORED),
        _partial("ix_attempts_ranked", "problem", "user_id", "efficiency", "created_at", where=IS_RANKED),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    source: Mapped[str] = mapped_column(Text())
    phase: Mapped[str | None] = mapped_column(String(200))
    not_before: Mapped[datetime | None] = mapped_column(UTCDateTime())
    idempotency_key: Mapped[str | None] = mapped_column(String(255))
    verdict: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    score: Mapped[int | None] = mapped_column(Integer())
    verdict_status: Mapped[str | None] = mapped_column(String(16))
    verdict_reason: Mapped[str | None] = mapped_column(String(32))
    faults: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    efficiency: Mapped[float | None] = mapped_column(Float())
    started_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    rejudged_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    score_before: Mapped[int | None] = mapped_column(Integer())
    after_giving_up: Mapped[bool] = mapped_column(Boolean(), default=False, server_default=false())

    own_inputs: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    variant: Mapped[str | None] = mapped_column(String(32))
    gradings: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    fingerprint: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))

    @classmethod
    def is_ready(cls) -> ColumnElement[bool]:
        return or_(cls.not_before.is_(None), cls.not_before <= FromNow())

    @classmethod
    def works(cls) -> ColumnElement[str]:
        return type_coerce(cls.kind, String)

    @property
    def kind_of_work(self) -> KindOfWork:
        return next(each for each in self.kinds if each.name == self.kind)

    @classmethod
    def is_forgettable(cls, guests: str) -> ColumnElement[bool]:
        return and_(super().is_forgettable(guests), cls.status.in_(ENDED))

    @property
    def counts(self) -> bool:
        """Whether the row has the score and the efficiency of its verdict."""
        return self.kind != "rejudge" and not self.after_giving_up


class SharedAnswersRow(Base):
    """What a reference computed: app/grading/queue/shared_answers.py. `files` is a zip archive of wire frames."""

    __tablename__ = "shared_answers"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    files: Mapped[bytes] = mapped_column(LargeBinary())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class WorkerRow(Base):
    """A process of the service: app/grading/queue/workers.py. `seen_at` is by the database's clock.

    `walls`, `setbacks` and `warnings` are lists of the fields of WorkerWall, WorkerSetback and WorkerWarning.
    `clock_offset_s` is by how much the process's clock is ahead of the database's. `code` is its grader
    (grader/core/code_digest.py).
    """

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(32))
    code: Mapped[str] = mapped_column(String(64), nullable=True)
    slots: Mapped[int] = mapped_column(Integer())
    can_grade: Mapped[bool] = mapped_column(Boolean())
    walls: Mapped[list[dict[str, Any]]] = mapped_column(JSON())
    setbacks: Mapped[list[dict[str, Any]]] = mapped_column(JSON())
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON())
    clock_offset_s: Mapped[float] = mapped_column(Float())
    started_at: Mapped[datetime] = mapped_column(UTCDateTime())
    seen_at: Mapped[datetime] = mapped_column(UTCDateTime())


class DeploymentRow(Base):
    """One row, only on PostgreSQL: the deployment secret in hex, which servers share; the judging secret that comes
    from it, from which every worker derives the same hidden cases; and the `code` of the server that started last
    (app/grading/queue/server_code.py).

    Neither is hashed, because both are needed. The role of a worker reads only the second of them
    (app/core/database_roles.py).
    """

    __tablename__ = "deployment"

    id: Mapped[int] = mapped_column(Integer(), primary_key=True, autoincrement=False)
    secret: Mapped[str] = mapped_column(String(64))
    judging_secret: Mapped[str | None] = mapped_column(String(64))
    code: Mapped[str | None] = mapped_column(String(64))
