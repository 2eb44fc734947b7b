"""When each draft was begun, so that the time that a problem takes can be measured."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    # Null for drafts from before. Their authors are timed from the first thing that they sent.
    op.add_column("drafts", sa.Column("begun_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("drafts", "begun_at")
