"""Comments of instructors on lines of attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.create_table(
        "comments",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32)),
        sa.Column("whom_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.String(32), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True)),
        sa.Column("resolved_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_comments_user_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["whom_id"], ["users.id"], name="fk_comments_whom_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_comments_attempt_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
    )
    op.create_index("ix_comments_user_id", "comments", ["user_id"])
    op.create_index("ix_comments_whom_id", "comments", ["whom_id"])
    op.create_index("ix_comments_attempt_id_line", "comments", ["attempt_id", "line"])


def downgrade() -> None:
    op.drop_table("comments")
