"""Points by hand in cells of a gradebook, rules and categories of assignments, and dates of sections."""

import sqlalchemy as sa
from alembic import op

revision = "0047_0045"
down_revision = "0046_0045"


def upgrade() -> None:
    op.create_table(
        "cell_marks",
        sa.Column("assignment_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("whom_id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("user_id", sa.String(32)),
        sa.Column("hundredths", sa.Integer(), nullable=False),
        sa.Column("most_hundredths", sa.Integer()),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("is_shown", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_cell_marks_assignment_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["whom_id"], ["users.id"], name="fk_cell_marks_whom_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_cell_marks_user_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("assignment_id", "problem", "whom_id", "kind", name="pk_cell_marks"),
    )
    op.create_index("ix_cell_marks_whom_id", "cell_marks", ["whom_id"])
    op.create_index("ix_cell_marks_user_id", "cell_marks", ["user_id"])
    op.create_table(
        "course_categories",
        sa.Column("course_id", sa.String(32), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("drop_lowest", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name="fk_course_categories_course_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("course_id", "position", name="pk_course_categories"),
    )
    op.create_table(
        "assignment_sections",
        sa.Column("assignment_id", sa.String(32), nullable=False),
        sa.Column("section", sa.String(200), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_assignment_sections_assignment_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "section", name="pk_assignment_sections"),
    )
    # The release before this one creates assignments without these columns.
    op.add_column("assignments", sa.Column("counted", sa.String(16), server_default="best", nullable=False))
    op.add_column("assignments", sa.Column("grace_minutes", sa.Integer(), server_default="0", nullable=False))
    op.add_column("assignments", sa.Column("weight", sa.Integer()))
    op.add_column("assignments", sa.Column("category", sa.String(60)))


def downgrade() -> None:
    for column in ("category", "weight", "grace_minutes", "counted"):
        op.drop_column("assignments", column)
    op.drop_table("assignment_sections")
    op.drop_table("course_categories")
    op.drop_table("cell_marks")
