"""The inputs of a run that its author chose."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("attempts", sa.Column("own_inputs", sa.JSON()))


def downgrade() -> None:
    op.drop_column("attempts", "own_inputs")
