"""The idempotency key of an attempt."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("attempts", sa.Column("idempotency_key", sa.String(255)))
    op.create_index("ix_attempts_user_id_idempotency_key", "attempts", ["user_id", "idempotency_key"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_attempts_user_id_idempotency_key", "attempts")
    op.drop_column("attempts", "idempotency_key")
