"""What references computed, for the workers of one database."""

import sqlalchemy as sa
from alembic import op

revision = "0049_0045"
down_revision = "0048_0045"


def upgrade() -> None:
    op.create_table(
        "shared_answers",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("files", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_shared_answers"),
    )


def downgrade() -> None:
    op.drop_table("shared_answers")
