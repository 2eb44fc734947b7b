"""What an exam closes and for whom, when each student began it, and versions of problems that one course sees."""

import sqlalchemy as sa
from alembic import op

revision = "0048_0045"
down_revision = "0047_0045"


def upgrade() -> None:
    # Null in each is what an assignment was before.
    op.add_column("assignments", sa.Column("closes", sa.String(100), nullable=True))
    op.add_column("assignments", sa.Column("closed_for", sa.String(16), nullable=True))
    op.add_column("assignments", sa.Column("duration_minutes", sa.Integer(), nullable=True))
    op.add_column("assignments", sa.Column("password_hash", sa.String(200), nullable=True))
    op.add_column("assignments", sa.Column("addresses", sa.Text(), nullable=True))
    op.add_column("assignment_problems", sa.Column("pool", sa.Integer(), nullable=True))
    op.create_table(
        "exam_starts",
        sa.Column(
            "assignment_id", sa.String(32), sa.ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("user_id", sa.String(32), sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_exam_starts_user_id", "exam_starts", ["user_id"])
    op.create_table(
        "course_problems",
        sa.Column("course_id", sa.String(32), sa.ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("problem", sa.String(64), primary_key=True),
        sa.Column("version", sa.String(64), sa.ForeignKey("packages.version"), nullable=False),
        sa.Column("visible_from", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("course_problems")
    op.drop_table("exam_starts")
    op.drop_column("assignment_problems", "pool")
    for name in ("addresses", "password_hash", "duration_minutes", "closed_for", "closes"):
        op.drop_column("assignments", name)
