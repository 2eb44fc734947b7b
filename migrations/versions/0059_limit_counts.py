"""One table for all limits per hour or day. Its two predecessors stay, because processes of release 0.2.0 use them."""

import sqlalchemy as sa
from alembic import op

revision = "0059_0057"
down_revision = "0058_0057"


def upgrade() -> None:
    op.create_table(
        "limit_counts",
        sa.Column("kind", sa.String(40), primary_key=True),
        sa.Column("key_hash", sa.String(64), primary_key=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_limit_counts_ends_at", "limit_counts", ["ends_at"])


def downgrade() -> None:
    op.drop_table("limit_counts")
