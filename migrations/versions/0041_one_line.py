"""One line for all work of the judge, fair between those who wait for it."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"

_TIME = sa.DateTime(timezone=True)
_WAITING = sa.text("status IN ('queued', 'running')")
_JOBS = ("explorations", "lesson_runs", "proofs")


def upgrade() -> None:
    op.create_table(
        "fair_shares",
        sa.Column("share", sa.String(80), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_fair_shares_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("share", name="pk_fair_shares"),
    )
    op.create_index("ix_fair_shares_user_id", "fair_shares", ["user_id"])
    op.create_index("ix_fair_shares_round", "fair_shares", ["round"])
    op.drop_index("ix_attempts_waiting", "attempts")
    for table in _JOBS:
        op.drop_index(f"ix_{table}_status_created_at", table)
        op.add_column(table, sa.Column("priority", sa.Integer(), nullable=False, server_default="0"))
        op.add_column(table, sa.Column("turn_at", _TIME, nullable=False, server_default="1970-01-01 00:00:00.000000"))
        op.execute(f"UPDATE {table} SET turn_at = created_at")
        op.create_index(f"ix_{table}_status_priority_turn_at_id", table, ["status", "priority", "turn_at", "id"])
    for table in ("attempts", *_JOBS):
        op.add_column(table, sa.Column("share", sa.String(80), nullable=True))
        owner = "'validations'" if table == "proofs" else "user_id"
        op.execute(f"UPDATE {table} SET share = {owner} WHERE status IN ('queued', 'running')")
        op.create_index(
            f"ix_{table}_waiting", table, ["share", "priority"], sqlite_where=_WAITING, postgresql_where=_WAITING
        )
    # What waits keeps its order, in the first rounds: a run, an attempt or a rejudge had the priority 0, 10 or 20.
    op.execute("UPDATE attempts SET share = 'rejudges' WHERE status IN ('queued', 'running') AND kind = 'rejudge'")
    if op.get_bind().dialect.name == "postgresql" and sa.inspect(op.get_bind()).has_table("procrastinate_jobs"):
        # Each names an attempt. The next sweep adds jobs that name none.
        op.execute("DELETE FROM procrastinate_jobs WHERE status = 'todo'")


def downgrade() -> None:
    for table in ("attempts", *_JOBS):
        op.drop_index(f"ix_{table}_waiting", table)
        op.drop_column(table, "share")
    for table in _JOBS:
        op.drop_index(f"ix_{table}_status_priority_turn_at_id", table)
        op.drop_column(table, "turn_at")
        op.drop_column(table, "priority")
        op.create_index(f"ix_{table}_status_created_at", table, ["status", "created_at"])
    op.create_index("ix_attempts_waiting", "attempts", ["user_id"], sqlite_where=_WAITING, postgresql_where=_WAITING)
    op.drop_table("fair_shares")
