"""What an accepted attempt is ranked by, and whether it was accepted without a look into its verdict."""

import sqlalchemy as sa
from alembic import op

from app.core.migration_steps import add_column_once, fill_from_verdicts

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    add_column_once("attempts", sa.Column("accepted", sa.Boolean()))
    fill_from_verdicts(
        sa.column("accepted", sa.Boolean()), "status = 'finished'", lambda verdict: verdict.get("status") == "accepted"
    )
    op.add_column("attempts", sa.Column("efficiency", sa.Float()))
    # It also serves what looks for a problem alone, as the old one did.
    op.create_index("ix_attempts_problem_efficiency", "attempts", ["problem", "efficiency"])
    op.drop_index("ix_attempts_problem", "attempts")


def downgrade() -> None:
    op.create_index("ix_attempts_problem", "attempts", ["problem"])
    op.drop_index("ix_attempts_problem_efficiency", "attempts")
    op.drop_column("attempts", "accepted")
    op.drop_column("attempts", "efficiency")
