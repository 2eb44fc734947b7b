"""Lines of rosters: who a member of a course is by its roster, with or without an account."""

import sqlalchemy as sa
from alembic import op

revision = "0046_0045"
down_revision = "0045"
_INDEXED = ("user_id", "invitation_id", "email", "student_number", "next_try_at")


def upgrade() -> None:
    op.create_table(
        "roster_lines",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("course_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=True),
        sa.Column("invitation_id", sa.String(32), nullable=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("given_name", sa.String(100), nullable=False),
        sa.Column("family_name", sa.String(100), nullable=False),
        sa.Column("email", sa.String(200), nullable=False),
        sa.Column("student_number", sa.String(100), nullable=False),
        sa.Column("login", sa.String(100), nullable=False),
        sa.Column("external_id", sa.String(100), nullable=False),
        sa.Column("section", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("site", sa.String(200), nullable=True),
        sa.Column("fence_token", sa.String(32), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer", sa.String(200), nullable=True),
        sa.ForeignKeyConstraint(["course_id"], ["courses.id"], name="fk_roster_lines_course_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_roster_lines_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitations.id"], name="fk_roster_lines_invitation_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_roster_lines"),
        sa.UniqueConstraint("course_id", "user_id", name="uq_roster_lines_course_id_user_id"),
    )
    for name in _INDEXED:
        op.create_index(f"ix_roster_lines_{name}", "roster_lines", [name])


def downgrade() -> None:
    for name in reversed(_INDEXED):
        op.drop_index(f"ix_roster_lines_{name}", table_name="roster_lines")
    op.drop_table("roster_lines")
