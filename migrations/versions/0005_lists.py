"""Lists read no verdict and no whole table: the verdict's status in a column of its own, and an index for each list."""

import sqlalchemy as sa
from alembic import op

from app.core.migration_steps import add_column_once, fill_from_verdicts

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    add_column_once("attempts", sa.Column("verdict_status", sa.String(16)))
    fill_from_verdicts(
        sa.column("verdict_status", sa.String(16)), "accepted IS NOT NULL", lambda verdict: verdict["status"]
    )
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
    )


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
