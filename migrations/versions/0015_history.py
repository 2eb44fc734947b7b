"""A column for a verdict's reason, which lists show and filter by; drafts that a restored source replaced."""

import sqlalchemy as sa
from alembic import op

from app.core.migration_steps import add_column_once, fill_from_verdicts

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    add_column_once("attempts", sa.Column("verdict_reason", sa.String(32)))
    fill_from_verdicts(
        sa.column("verdict_reason", sa.String(32)),
        "verdict_status = 'rejected'",
        lambda verdict: verdict.get("reason"),
    )
    op.create_table(
        "replaced_drafts",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_replaced_drafts_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_replaced_drafts"),
    )
    op.create_index("ix_replaced_drafts_user_id_replaced_at", "replaced_drafts", ["user_id", "replaced_at"])


def downgrade() -> None:
    op.drop_index("ix_replaced_drafts_user_id_replaced_at", "replaced_drafts")
    op.drop_table("replaced_drafts")
    op.drop_column("attempts", "verdict_reason")
