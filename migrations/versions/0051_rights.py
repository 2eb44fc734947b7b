"""What each assistant of a course may do beyond grading."""

import sqlalchemy as sa
from alembic import op

revision = "0051_0045"
down_revision = "0050_0045"


def upgrade() -> None:
    # Null is what an assistant has until an instructor decides.
    op.add_column("course_members", sa.Column("rights", sa.String(200), nullable=True))


def downgrade() -> None:
    op.drop_column("course_members", "rights")
