"""Which checks and cases a rejected attempt fails, beside its verdict: insight reads it of thousands at once."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from app.core.migration_steps import add_column_once, fill_from_verdicts

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    add_column_once("attempts", sa.Column("faults", sa.JSON()))
    fill_from_verdicts(sa.column("faults", sa.JSON()), "verdict_status = 'rejected'", _faults)


def _faults(verdict: dict[str, Any]) -> dict[str, object]:
    found = {
        name: [each["id"] for each in verdict.get(name) or [] if not each["passed"]] for name in ("checks", "cases")
    }
    return {**found, "misconception": verdict.get("misconception")}


def downgrade() -> None:
    op.drop_column("attempts", "faults")
