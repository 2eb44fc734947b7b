"""The last round in which each share was served in the line of work that can take minutes."""

import sqlalchemy as sa
from alembic import op

revision = "0053_0045"
down_revision = "0052_0045"


def upgrade() -> None:
    # Null at a share that was never served in that line.
    op.add_column("fair_shares", sa.Column("long_round", sa.Integer(), nullable=True))
    op.create_index("ix_fair_shares_long_round", "fair_shares", ["long_round"])


def downgrade() -> None:
    op.drop_index("ix_fair_shares_long_round", "fair_shares")
    op.drop_column("fair_shares", "long_round")
