"""An index of attempts by problem and user, for the list of who has tried a problem."""

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_index("ix_attempts_problem_user_id_created_at", "attempts", ["problem", "user_id", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_attempts_problem_user_id_created_at", "attempts")
