"""Links with which anybody may read one attempt."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "shares",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.String(32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_shares_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_shares_attempt_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_shares"),
        sa.UniqueConstraint("attempt_id", name="uq_shares_attempt_id"),
    )
    op.create_index("ix_shares_user_id", "shares", ["user_id"])


def downgrade() -> None:
    op.drop_table("shares")
