"""A column for a verdict's reason, which lists show and filter by; drafts that a restored source replaced."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_BATCH = 500


def upgrade() -> None:
    op.add_column("attempts", sa.Column("verdict_reason", sa.String(32)))
    _fill_verdict_reason(op.get_bind())
    op.create_table(
        "replaced_drafts",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_replaced_drafts_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_replaced_drafts"),
    )
    op.create_index("ix_replaced_drafts_user_id_replaced_at", "replaced_drafts", ["user_id", "replaced_at"])


def _fill_verdict_reason(connection: sa.Connection) -> None:
    attempts = sa.table(
        "attempts",
        sa.column("id", sa.String()),
        sa.column("verdict_status", sa.String()),
        sa.column("verdict_reason", sa.String()),
        sa.column("verdict", sa.Text()),
    )
    # Read here and not by the database, for the reason in 0002.
    as_text = sa.cast(attempts.c.verdict, sa.Text())
    last = ""
    while True:
        rows = connection.execute(
            sa.select(attempts.c.id, as_text)
            .where(attempts.c.verdict_status == "rejected", attempts.c.id > last)
            .order_by(attempts.c.id)
            .limit(_BATCH)
        ).all()
        for attempt_id, verdict in rows:
            reason = json.loads(verdict).get("reason")
            connection.execute(sa.update(attempts).where(attempts.c.id == attempt_id).values(verdict_reason=reason))
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def downgrade() -> None:
    op.drop_index("ix_replaced_drafts_user_id_replaced_at", "replaced_drafts")
    op.drop_table("replaced_drafts")
    op.drop_column("attempts", "verdict_reason")
