"""Which grader each process runs, and which one the server does."""

import sqlalchemy as sa
from alembic import op

revision = "0054_0045"
down_revision = "0053_0045"


def upgrade() -> None:
    # Null at a process of an earlier version, which does not say.
    op.add_column("workers", sa.Column("code", sa.String(64), nullable=True))
    op.add_column("deployment", sa.Column("code", sa.String(64), nullable=True))


def downgrade() -> None:
    op.drop_column("deployment", "code")
    op.drop_column("workers", "code")
