"""Which attempts a rejudge grades, and whether it may lower a score."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.add_column("rejudges", sa.Column("selection", sa.JSON()))
    op.add_column("rejudges", sa.Column("never_lower", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    op.drop_column("rejudges", "never_lower")
    op.drop_column("rejudges", "selection")
