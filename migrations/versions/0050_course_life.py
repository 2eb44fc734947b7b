"""When a course was archived, who teaches it, and what was done in it."""

import sqlalchemy as sa
from alembic import op

revision = "0050_0045"
down_revision = "0049_0045"


def upgrade() -> None:
    # Null is a course that runs.
    op.add_column("courses", sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True))
    # Null for what was done elsewhere, and for entries of earlier releases.
    op.add_column("audit_log", sa.Column("course_id", sa.String(32), nullable=True))
    # A course without staff is open to all instructors, as every course was before.
    op.create_table(
        "course_staff",
        sa.Column("course_id", sa.String(32), sa.ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("user_id", sa.String(32), sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_course_staff_user_id", "course_staff", ["user_id"])


def downgrade() -> None:
    op.drop_column("audit_log", "course_id")
    op.drop_table("course_staff")
    op.drop_column("courses", "archived_at")
