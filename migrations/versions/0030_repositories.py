"""Repositories from which packages are synced, and their syncs."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.create_table(
        "repositories",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("address", sa.String(500), nullable=False),
        sa.Column("branch", sa.String(200), nullable=False),
        sa.Column("folder", sa.String(200), nullable=False),
        sa.Column("username", sa.String(100), nullable=False),
        sa.Column("sealed_token", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_repositories_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_repositories"),
    )
    op.create_index("ix_repositories_user_id", "repositories", ["user_id"])
    op.create_table(
        "repository_syncs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("repository_id", sa.String(32), nullable=False),
        sa.Column("cause", sa.String(8), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("commit", sa.String(64)),
        sa.Column("fault", sa.String(500)),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repositories.id"], name="fk_repository_syncs_repository_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_repository_syncs"),
    )
    op.create_index("ix_repository_syncs_repository_id_created_at", "repository_syncs", ["repository_id", "created_at"])


def downgrade() -> None:
    op.drop_table("repository_syncs")
    op.drop_table("repositories")
