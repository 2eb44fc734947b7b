"""The texts of packages as pages show them."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.create_table(
        "rendered_texts",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("renderer", sa.String(64), nullable=False),
        sa.Column("rendered", sa.JSON(), nullable=False),
        sa.Column("rendered_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_rendered_texts"),
    )
    op.create_index("ix_rendered_texts_renderer", "rendered_texts", ["renderer"])


def downgrade() -> None:
    op.drop_table("rendered_texts")
