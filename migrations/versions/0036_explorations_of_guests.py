"""Which browser of a guest an exploration belongs to, and what a running one is doing."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    with op.batch_alter_table("explorations") as table:
        table.add_column(sa.Column("guest", sa.String(64), nullable=True))
        table.add_column(sa.Column("phase", sa.String(100), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("explorations") as table:
        table.drop_column("phase")
        table.drop_column("guest")
