"""A delivery is held under a lease and a fence token, as attempts and validations are."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("webhook_deliveries", sa.Column("fence_token", sa.String(32)))
    op.add_column("webhook_deliveries", sa.Column("lease_until", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("webhook_deliveries", "lease_until")
    op.drop_column("webhook_deliveries", "fence_token")
