"""Faults in problems that users reported to instructors."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "fault_reports",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_fault_reports_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_fault_reports"),
    )
    op.create_index("ix_fault_reports_user_id", "fault_reports", ["user_id"])


def downgrade() -> None:
    op.drop_table("fault_reports")
