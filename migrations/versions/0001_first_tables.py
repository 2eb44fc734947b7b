"""First tables: people, what proves who they are, and attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name", name="uq_users_name"),
    )
    _create_secrets("sessions", sa.Column("expires_at", _TIME, nullable=False))
    _create_secrets("sign_in_links", sa.Column("expires_at", _TIME, nullable=False))
    _create_secrets("api_tokens", sa.Column("preset", sa.Boolean(), nullable=False))
    op.create_table(
        "attempts",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("phase", sa.String(200)),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("fence_token", sa.String(32)),
        sa.Column("lease_until", _TIME),
        sa.Column("verdict", sa.JSON()),
        sa.Column("score", sa.Integer()),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("started_at", _TIME),
        sa.Column("finished_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_attempts_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_attempts_problem", "attempts", ["problem"])
    op.create_index("ix_attempts_user_id_created_at_id", "attempts", ["user_id", "created_at", "id"])
    op.create_index("ix_attempts_status_priority_created_at", "attempts", ["status", "priority", "created_at"])


def _create_secrets(table: str, further: sa.Column[object]) -> None:
    op.create_table(
        table,
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        further,
        sa.PrimaryKeyConstraint("token_hash", name=f"pk_{table}"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{table}_user_id", ondelete="CASCADE"),
    )
    op.create_index(f"ix_{table}_user_id", table, ["user_id"])


def downgrade() -> None:
    for table in ("attempts", "api_tokens", "sign_in_links", "sessions", "users"):
        op.drop_table(table)
