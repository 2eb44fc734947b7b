"""Which browser a guest's run belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("attempts", sa.Column("guest", sa.String(64)))


def downgrade() -> None:
    op.drop_column("attempts", "guest")
