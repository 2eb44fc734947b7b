"""Completed tracks that are shared, the badges that were issued, and the key that signs badges."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.create_table(
        "completions",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("track", sa.String(40), nullable=False),
        sa.Column("verified", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_completions_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_completions"),
        sa.UniqueConstraint("token_hash", name="uq_completions_token_hash"),
        sa.UniqueConstraint("user_id", "track", name="uq_completions_user_id_track"),
    )
    op.create_table(
        "issued_badges",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_issued_badges"),
    )
    op.create_table(
        "badge_keys",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_badge_keys"),
    )


def downgrade() -> None:
    op.drop_table("badge_keys")
    op.drop_table("issued_badges")
    op.drop_table("completions")
