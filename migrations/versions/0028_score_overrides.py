"""Points of attempts that instructors changed by hand."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.create_table(
        "score_overrides",
        sa.Column("attempt_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32)),
        sa.Column("whom_id", sa.String(32), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name="fk_score_overrides_attempt_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_score_overrides_user_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["whom_id"], ["users.id"], name="fk_score_overrides_whom_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("attempt_id", name="pk_score_overrides"),
    )
    op.create_index("ix_score_overrides_user_id", "score_overrides", ["user_id"])
    op.create_index("ix_score_overrides_whom_id", "score_overrides", ["whom_id"])


def downgrade() -> None:
    op.drop_table("score_overrides")
