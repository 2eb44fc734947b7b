"""Explorations of a function that belongs to no problem."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    with op.batch_alter_table("explorations") as table:
        table.alter_column("problem", existing_type=sa.String(64), nullable=True)
        table.alter_column("version", existing_type=sa.String(64), nullable=True)
        table.add_column(sa.Column("function", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.execute("DELETE FROM explorations WHERE problem IS NULL")
    with op.batch_alter_table("explorations") as table:
        table.drop_column("function")
        table.alter_column("version", existing_type=sa.String(64), nullable=False)
        table.alter_column("problem", existing_type=sa.String(64), nullable=False)
