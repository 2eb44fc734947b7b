"""Whether users appear in rankings, and by which name."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("users", sa.Column("ranking_name", sa.String(200)))
    op.add_column("users", sa.Column("in_rankings", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_index("ix_users_ranking_name", "users", ["ranking_name"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_users_ranking_name", "users")
    op.drop_column("users", "in_rankings")
    op.drop_column("users", "ranking_name")
