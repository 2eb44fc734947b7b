"""The options of XLA with which an exploration compiles its source, and the one that it is compared with."""

import sqlalchemy as sa
from alembic import op

revision = "0061_0057"
down_revision = "0060_0057"


def upgrade() -> None:
    op.add_column("explorations", sa.Column("xla_options", sa.JSON()))
    op.add_column("explorations", sa.Column("against_xla_options", sa.JSON()))


def downgrade() -> None:
    op.drop_column("explorations", "against_xla_options")
    op.drop_column("explorations", "xla_options")
