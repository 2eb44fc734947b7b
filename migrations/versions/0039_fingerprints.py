"""Fingerprints of known mistakes with each version, and of rejected attempts that none of them explains."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.add_column("packages", sa.Column("known", sa.JSON()))
    op.add_column("packages", sa.Column("explained", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("attempts", sa.Column("fingerprint", sa.JSON()))
    unexplained = sa.text("fingerprint IS NOT NULL")
    op.create_index(
        "ix_attempts_unexplained",
        "attempts",
        ["problem", "id"],
        sqlite_where=unexplained,
        postgresql_where=unexplained,
    )


def downgrade() -> None:
    op.drop_index("ix_attempts_unexplained", "attempts")
    op.drop_column("attempts", "fingerprint")
    op.drop_column("packages", "explained")
    op.drop_column("packages", "known")
