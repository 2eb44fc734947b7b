"""How many accounts were made, or tried to be, without an invitation of late."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "sign_up_counts",
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("ends_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("subject_hash", name="pk_sign_up_counts"),
    )
    op.create_index("ix_sign_up_counts_ends_at", "sign_up_counts", ["ends_at"])


def downgrade() -> None:
    op.drop_table("sign_up_counts")
