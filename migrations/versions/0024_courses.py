"""Courses with members and assignments, and an index of scores by time for their gradebooks."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_table(
        "courses",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("time_zone", sa.String(64), nullable=False),
        sa.Column("join_code", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_courses"),
        sa.UniqueConstraint("join_code", name="uq_courses_join_code"),
    )
    op.create_table(
        "course_members",
        sa.Column("course_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["course_id"], ["courses.id"], name="fk_course_members_course_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_course_members_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("course_id", "user_id", name="pk_course_members"),
    )
    op.create_index("ix_course_members_user_id", "course_members", ["user_id"])
    op.create_table(
        "assignments",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("course_id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("late_percent", sa.Integer()),
        sa.ForeignKeyConstraint(["course_id"], ["courses.id"], name="fk_assignments_course_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
    )
    op.create_index("ix_assignments_course_id", "assignments", ["course_id"])
    op.create_table(
        "assignment_problems",
        sa.Column("assignment_id", sa.String(32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_assignment_problems_assignment_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "position", name="pk_assignment_problems"),
    )
    scored = sa.text("score IS NOT NULL")
    columns = ["user_id", "problem", "created_at", "score"]
    op.create_index("ix_attempts_graded", "attempts", columns, sqlite_where=scored, postgresql_where=scored)


def downgrade() -> None:
    op.drop_index("ix_attempts_graded", "attempts")
    for table in ("assignment_problems", "assignments", "course_members", "courses"):
        op.drop_table(table)
