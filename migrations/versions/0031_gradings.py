"""The tries to grade an attempt, with their workers, phases and ends, for support."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.add_column("attempts", sa.Column("gradings", sa.JSON()))


def downgrade() -> None:
    op.drop_column("attempts", "gradings")
