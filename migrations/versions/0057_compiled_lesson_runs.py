"""The function of a lesson's program that is compiled after it ran, and what that found."""

import sqlalchemy as sa
from alembic import op

revision = "0057_0045"
down_revision = "0056_0045"


def upgrade() -> None:
    op.add_column("lesson_runs", sa.Column("function", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("lesson_runs", sa.Column("compiled", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("lesson_runs", "compiled")
    op.drop_column("lesson_runs", "function")
