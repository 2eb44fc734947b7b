"""When the person behind a session last proved who they are; null for sessions from before."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("authenticated_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("sessions", "authenticated_at")
