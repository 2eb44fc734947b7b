"""Packages by content hash, whose turn it is in the queue, and what the machines of one service share."""

import sqlalchemy as sa
from alembic import op

from app.core.migration_steps import add_column_once, update_in_batches

revision = "0004"
down_revision = "0003"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    # With a default, because SQLite cannot add a column without a value, and to copy a table that others refer to
    # would take their rows along.
    add_column_once(
        "attempts", sa.Column("turn_at", _TIME, nullable=False, server_default="1970-01-01 00:00:00.000000")
    )
    attempts = sa.table("attempts", sa.column("id", sa.String()), sa.column("created_at", _TIME), sa.column("turn_at"))
    update_in_batches(attempts, [], sa.true(), lambda rows: {"turn_at": attempts.c.created_at})
    op.create_table(
        "packages",
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("slug", sa.String(64), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_packages"),
    )
    op.create_index("ix_packages_slug", "packages", ["slug"])
    op.create_table(
        "published",
        sa.Column("slug", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("published_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("slug", name="pk_published"),
        sa.ForeignKeyConstraint(["version"], ["packages.version"], name="fk_published_version"),
    )
    op.create_table(
        "deployment",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deployment"),
    )
    op.add_column("attempts", sa.Column("not_before", _TIME))
    op.create_index("ix_attempts_status_priority_turn_at_id", "attempts", ["status", "priority", "turn_at", "id"])
    op.create_index("ix_attempts_finished_at", "attempts", ["finished_at"])
    op.drop_index("ix_attempts_status_priority_created_at", "attempts")


def downgrade() -> None:
    op.create_index("ix_attempts_status_priority_created_at", "attempts", ["status", "priority", "created_at"])
    op.drop_index("ix_attempts_finished_at", "attempts")
    op.drop_index("ix_attempts_status_priority_turn_at_id", "attempts")
    op.drop_column("attempts", "turn_at")
    op.drop_column("attempts", "not_before")
    for table in ("deployment", "published", "packages"):
        op.drop_table(table)
