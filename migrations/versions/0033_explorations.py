"""Explorations: what a source compiles to, without a verdict."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.create_table(
        "explorations",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("against", sa.Text(), nullable=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("shared_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence_token", sa.String(32), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_explorations_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["version"], ["packages.version"], name="fk_explorations_version"),
        sa.PrimaryKeyConstraint("id", name="pk_explorations"),
    )
    op.create_index("ix_explorations_user_id_created_at", "explorations", ["user_id", "created_at"])
    op.create_index("ix_explorations_digest", "explorations", ["digest"])
    op.create_index("ix_explorations_status_created_at", "explorations", ["status", "created_at"])


def downgrade() -> None:
    op.drop_table("explorations")
