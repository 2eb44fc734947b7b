"""What the page of a problem draws before anybody runs anything."""

import sqlalchemy as sa
from alembic import op

revision = "0062_0057"
down_revision = "0061_0057"


def upgrade() -> None:
    op.add_column("packages", sa.Column("pictures", sa.JSON()))


def downgrade() -> None:
    op.drop_column("packages", "pictures")
