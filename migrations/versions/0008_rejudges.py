"""Rejudges of a problem; which attempts were graded again, and what their score was before."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "rejudges",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME),
        sa.Column("applied_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_rejudges"),
        sa.ForeignKeyConstraint(["version"], ["packages.version"], name="fk_rejudges_version"),
    )
    op.create_index("ix_rejudges_status", "rejudges", ["status"])
    op.create_index("ix_rejudges_problem_status", "rejudges", ["problem", "status"])
    op.create_table(
        "rejudged",
        sa.Column("rejudge_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.String(32), nullable=False),
        sa.Column("trial_id", sa.String(32)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("old_version", sa.String(64), nullable=False),
        sa.Column("old_status", sa.String(16), nullable=False),
        sa.Column("old_score", sa.Integer(), nullable=False),
        sa.Column("new_status", sa.String(16)),
        sa.Column("new_reason", sa.String(32)),
        sa.Column("new_score", sa.Integer()),
        sa.PrimaryKeyConstraint("rejudge_id", "attempt_id", name="pk_rejudged"),
        sa.ForeignKeyConstraint(["rejudge_id"], ["rejudges.id"], name="fk_rejudged_rejudge_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_rejudged_attempt_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["trial_id"], ["attempts.id"], name="fk_rejudged_trial_id", ondelete="SET NULL"),
    )
    op.create_index("ix_rejudged_rejudge_id_status", "rejudged", ["rejudge_id", "status", "attempt_id"])
    op.create_index("ix_rejudged_rejudge_id_changed", "rejudged", ["rejudge_id", "changed", "attempt_id"])
    op.create_index("ix_rejudged_attempt_id", "rejudged", ["attempt_id"])
    op.create_index("ix_rejudged_trial_id", "rejudged", ["trial_id"])
    op.add_column("attempts", sa.Column("rejudged_at", _TIME))
    op.add_column("attempts", sa.Column("score_before", sa.Integer()))


def downgrade() -> None:
    op.drop_column("attempts", "score_before")
    op.drop_column("attempts", "rejudged_at")
    op.drop_table("rejudged")
    op.drop_table("rejudges")
