"""The idempotency key of an attempt; webhooks and what is sent to them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("attempts", sa.Column("idempotency_key", sa.String(255)))
    op.create_index("ix_attempts_user_id_idempotency_key", "attempts", ["user_id", "idempotency_key"], unique=True)
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_webhooks_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_webhooks_user_id", "webhooks", ["user_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("webhook_id", sa.String(32), nullable=False),
        sa.Column("attempt_id", sa.String(32), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_try_at", _TIME),
        sa.Column("delivered_at", _TIME),
        sa.Column("answer", sa.String(200)),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name="fk_webhook_deliveries_webhook_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name="fk_webhook_deliveries_attempt_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_webhook_deliveries_next_try_at", "webhook_deliveries", ["next_try_at"])
    op.create_index("ix_webhook_deliveries_attempt_id", "webhook_deliveries", ["attempt_id"])
    op.create_index(
        "ix_webhook_deliveries_webhook_id_created_at_id", "webhook_deliveries", ["webhook_id", "created_at", "id"]
    )


def downgrade() -> None:
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
    op.drop_index("ix_attempts_user_id_idempotency_key", "attempts")
    op.drop_column("attempts", "idempotency_key")
