"""Runs of the programs in lessons: what was run, and what it printed."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "lesson_runs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("guest", sa.String(64), nullable=True),
        sa.Column("lesson", sa.String(40), nullable=False),
        sa.Column("program", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence_token", sa.String(32), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_lesson_runs_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_lesson_runs"),
    )
    op.create_index("ix_lesson_runs_user_id_lesson", "lesson_runs", ["user_id", "lesson"])
    op.create_index("ix_lesson_runs_status_created_at", "lesson_runs", ["status", "created_at"])


def downgrade() -> None:
    op.drop_table("lesson_runs")
