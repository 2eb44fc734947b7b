"""Accounts can be deactivated, and what is done to others is recorded in an audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("users", sa.Column("deactivated_at", sa.DateTime(timezone=True)))
    op.create_table(
        "audit_log",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.String(32)),
        sa.Column("whom_id", sa.String(32)),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("detail", sa.String(200), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_audit_log_user_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["whom_id"], ["users.id"], name="fk_audit_log_whom_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
    )
    for name, columns in (("at_id", ["at", "id"]), ("user_id", ["user_id"]), ("whom_id", ["whom_id"])):
        op.create_index(f"ix_audit_log_{name}", "audit_log", columns)


def downgrade() -> None:
    op.drop_table("audit_log")
    op.drop_column("users", "deactivated_at")
