"""Explorations that are compiled for TPUs as well."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    with op.batch_alter_table("explorations") as table:
        table.add_column(sa.Column("chip", sa.String(8), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("explorations") as table:
        table.drop_column("chip")
