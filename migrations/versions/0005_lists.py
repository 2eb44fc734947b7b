"""Lists read no verdict and no whole table: the verdict's status in a column of its own, and an index for each list."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_BATCH = 500


def upgrade() -> None:
    op.add_column("attempts", sa.Column("verdict_status", sa.String(16)))
    _fill_verdict_status(op.get_bind())
    op.drop_column("attempts", "accepted")
    op.drop_index("ix_attempts_problem_efficiency", "attempts")
    op.create_index("ix_attempts_user_id_problem_created_at_id", "attempts", ["user_id", "problem", "created_at", "id"])
    _create_partial("ix_attempts_waiting", ["user_id"], "status IN ('queued', 'running')")
    _create_partial("ix_attempts_scored", ["user_id", "problem", "score", "verdict_status"], "score IS NOT NULL")
    _create_partial("ix_attempts_ranked", ["problem", "user_id", "efficiency", "created_at"], "efficiency IS NOT NULL")


def _create_partial(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "attempts", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _attempts() -> sa.TableClause:
    return sa.table(
        "attempts",
        sa.column("id", sa.String()),
        sa.column("accepted", sa.Boolean()),
        sa.column("verdict_status", sa.String()),
        sa.column("verdict", sa.Text()),
    )


def _fill_verdict_status(connection: sa.Connection) -> None:
    attempts = _attempts()
    connection.execute(sa.update(attempts).where(attempts.c.accepted.is_(True)).values(verdict_status="accepted"))
    # Read here and not by the database, for the reason in 0002.
    as_text = sa.cast(attempts.c.verdict, sa.Text())
    last = ""
    while True:
        rows = connection.execute(
            sa.select(attempts.c.id, as_text)
            .where(attempts.c.accepted.is_(False), attempts.c.id > last)
            .order_by(attempts.c.id)
            .limit(_BATCH)
        ).all()
        for attempt_id, verdict in rows:
            status = json.loads(verdict)["status"]
            connection.execute(sa.update(attempts).where(attempts.c.id == attempt_id).values(verdict_status=status))
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def downgrade() -> None:
    for name in ("ranked", "scored", "waiting", "user_id_problem_created_at_id"):
        op.drop_index(f"ix_attempts_{name}", "attempts")
    op.create_index("ix_attempts_problem_efficiency", "attempts", ["problem", "efficiency"])
    op.add_column("attempts", sa.Column("accepted", sa.Boolean()))
    attempts = _attempts()
    op.execute(
        sa.update(attempts)
        .where(attempts.c.verdict_status.is_not(None))
        .values(accepted=attempts.c.verdict_status == "accepted")
    )
    op.drop_column("attempts", "verdict_status")
