"""The judging secret, which a worker reads instead of the deployment secret. A server stores it when it starts."""

import sqlalchemy as sa
from alembic import op

revision = "0056_0045"
down_revision = "0055_0045"


def upgrade() -> None:
    op.add_column("deployment", sa.Column("judging_secret", sa.String(64), nullable=True))


def downgrade() -> None:
    op.drop_column("deployment", "judging_secret")
