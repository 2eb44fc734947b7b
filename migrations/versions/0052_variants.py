"""Which variant of its problem an attempt and an exploration are of. The manifest has `variants`."""

import sqlalchemy as sa
from alembic import op

revision = "0052_0045"
down_revision = "0051_0045"


def upgrade() -> None:
    # Null at a problem without variants.
    op.add_column("attempts", sa.Column("variant", sa.String(32), nullable=True))
    op.add_column("explorations", sa.Column("variant", sa.String(32), nullable=True))


def downgrade() -> None:
    op.drop_column("explorations", "variant")
    op.drop_column("attempts", "variant")
