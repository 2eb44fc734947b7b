"""Which checks and cases a rejected attempt fails, beside its verdict: insight reads it of thousands at once."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_BATCH = 500


def upgrade() -> None:
    op.add_column("attempts", sa.Column("faults", sa.JSON()))
    _fill_faults(op.get_bind())


def _fill_faults(connection: sa.Connection) -> None:
    attempts = sa.table(
        "attempts",
        sa.column("id", sa.String()),
        sa.column("verdict_status", sa.String()),
        sa.column("verdict", sa.Text()),
        sa.column("faults", sa.JSON()),
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
            values = {"faults": _faults(json.loads(verdict))} if verdict else {}
            if values:
                connection.execute(sa.update(attempts).where(attempts.c.id == attempt_id).values(values))
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def _faults(verdict: dict[str, Any]) -> dict[str, object]:
    found = {
        name: [each["id"] for each in verdict.get(name) or [] if not each["passed"]] for name in ("checks", "cases")
    }
    return {**found, "misconception": verdict.get("misconception")}


def downgrade() -> None:
    op.drop_column("attempts", "faults")
