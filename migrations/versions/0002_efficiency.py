"""What an accepted attempt is ranked by, and whether it was accepted without a look into its verdict."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_BATCH = 500


def upgrade() -> None:
    op.add_column("attempts", sa.Column("efficiency", sa.Float()))
    op.add_column("attempts", sa.Column("accepted", sa.Boolean()))
    # It also serves what looks for a problem alone, as the old one did.
    op.create_index("ix_attempts_problem_efficiency", "attempts", ["problem", "efficiency"])
    op.drop_index("ix_attempts_problem", "attempts")
    _fill_accepted(op.get_bind())


def _fill_accepted(connection: sa.Connection) -> None:
    # Read here and not by the database: PostgreSQL's JSON operators refuse a text that holds \u0000 anywhere, and what
    # a submission printed may.
    attempts = sa.table(
        "attempts",
        sa.column("id", sa.String()),
        sa.column("status", sa.String()),
        sa.column("accepted", sa.Boolean()),
        sa.column("verdict", sa.Text()),
    )
    as_text = sa.cast(attempts.c.verdict, sa.Text())
    last = ""
    while True:
        rows = connection.execute(
            sa.select(attempts.c.id, as_text)
            .where(attempts.c.status == "finished", attempts.c.verdict.is_not(None), attempts.c.id > last)
            .order_by(attempts.c.id)
            .limit(_BATCH)
        ).all()
        for attempt_id, verdict in rows:
            accepted = json.loads(verdict).get("status") == "accepted"
            connection.execute(sa.update(attempts).where(attempts.c.id == attempt_id).values(accepted=accepted))
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def downgrade() -> None:
    op.create_index("ix_attempts_problem", "attempts", ["problem"])
    op.drop_index("ix_attempts_problem_efficiency", "attempts")
    op.drop_column("attempts", "accepted")
    op.drop_column("attempts", "efficiency")
