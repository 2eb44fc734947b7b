"""Which lessons each user marked as read."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.create_table(
        "lesson_reads",
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("lesson", sa.String(40), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_lesson_reads_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "lesson", name="pk_lesson_reads"),
    )


def downgrade() -> None:
    op.drop_table("lesson_reads")
