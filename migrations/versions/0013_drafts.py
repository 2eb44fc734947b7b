"""What people have typed and not sent yet: one draft for each of their problems, with a revision."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "drafts",
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_drafts_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "problem", name="pk_drafts"),
    )


def downgrade() -> None:
    op.drop_table("drafts")
