"""The questions that were drawn for a version of an answer-mode problem."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.create_table(
        "questions",
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("drawn", sa.JSON(), nullable=False),
        sa.Column("drawn_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["version"], ["packages.version"], name="fk_questions_version"),
        sa.PrimaryKeyConstraint("version", name="pk_questions"),
    )


def downgrade() -> None:
    op.drop_table("questions")
