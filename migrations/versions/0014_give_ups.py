"""Who gave up which problem, and which attempts were sent after that."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "give_ups",
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_give_ups_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "problem", name="pk_give_ups"),
    )
    op.add_column("attempts", sa.Column("after_giving_up", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    op.drop_column("attempts", "after_giving_up")
    op.drop_table("give_ups")
