"""How often in a row each webhook did not respond in time, and until when nothing is sent to it."""

import sqlalchemy as sa
from alembic import op

revision = "0055_0045"
down_revision = "0054_0045"


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("slow_tries", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("webhooks", sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("webhooks", "paused_until")
    op.drop_column("webhooks", "slow_tries")
