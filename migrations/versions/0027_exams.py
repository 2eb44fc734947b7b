"""Limits of an assignment, extensions for one student, attempts whose verdict an exam hides, and announcements."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column("assignments", sa.Column("attempt_limit", sa.Integer()))
    op.add_column("assignments", sa.Column("cool_down_minutes", sa.Integer()))
    op.add_column("assignments", sa.Column("is_exam", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "assignment_extensions",
        sa.Column("assignment_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("extra_minutes", sa.Integer(), nullable=False),
        sa.Column("extra_attempts", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_assignment_extensions_assignment_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_assignment_extensions_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("assignment_id", "user_id", name="pk_assignment_extensions"),
    )
    op.create_index("ix_assignment_extensions_user_id", "assignment_extensions", ["user_id"])
    op.create_table(
        "withheld_attempts",
        sa.Column("attempt_id", sa.String(32), nullable=False),
        sa.Column("assignment_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name="fk_withheld_attempts_attempt_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_withheld_attempts_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("attempt_id", "assignment_id", name="pk_withheld_attempts"),
    )
    for column in ("assignment_id", "problem", "until", "user_id"):
        op.create_index(f"ix_withheld_attempts_{column}", "withheld_attempts", [column])
    op.create_table(
        "announcements",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("course_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32)),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["course_id"], ["courses.id"], name="fk_announcements_course_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_announcements_user_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_announcements"),
    )
    for column in ("course_id", "user_id"):
        op.create_index(f"ix_announcements_{column}", "announcements", [column])


def downgrade() -> None:
    op.drop_table("announcements")
    op.drop_table("withheld_attempts")
    op.drop_table("assignment_extensions")
    for column in ("is_exam", "cool_down_minutes", "attempt_limit"):
        op.drop_column("assignments", column)
