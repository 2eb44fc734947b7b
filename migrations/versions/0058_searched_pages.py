"""Indexes for pages that would read a whole table: a course's audit log, a problem's exams, and failed deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0058_0057"
down_revision = "0057_0045"

_HAS_FAILED = sa.text("delivered_at IS NULL AND tries > 0 AND answer IS NOT NULL")


def upgrade() -> None:
    op.create_index("ix_audit_log_course_id_at_id", "audit_log", ["course_id", "at", "id"])
    op.create_index("ix_assignment_problems_problem", "assignment_problems", ["problem"])
    for table in ("lti_scores", "webhook_deliveries"):
        name, columns = f"ix_{table}_failing", ["answer", "next_try_at"]
        op.create_index(name, table, columns, sqlite_where=_HAS_FAILED, postgresql_where=_HAS_FAILED)


def downgrade() -> None:
    for table in ("lti_scores", "webhook_deliveries"):
        op.drop_index(f"ix_{table}_failing", table)
    op.drop_index("ix_assignment_problems_problem", "assignment_problems")
    op.drop_index("ix_audit_log_course_id_at_id", "audit_log")
