"""Which version of a problem was published when, by whom, and whether its check had passed."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "publications",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("problem", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("user_id", sa.String(32)),
        sa.Column("checked", sa.Boolean()),
        sa.Column("forced", sa.Boolean(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_publications"),
        sa.ForeignKeyConstraint(["version"], ["packages.version"], name="fk_publications_version"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_publications_user_id", ondelete="SET NULL"),
    )
    op.create_index("ix_publications_problem_published_at_id", "publications", ["problem", "published_at", "id"])
    op.create_index("ix_publications_user_id", "publications", ["user_id"])
    op.create_index("ix_packages_slug_created_at_version", "packages", ["slug", "created_at", "version"])
    op.drop_index("ix_packages_slug", "packages")
    op.create_index("ix_rejudges_problem_created_at_id", "rejudges", ["problem", "created_at", "id"])


def downgrade() -> None:
    op.drop_index("ix_rejudges_problem_created_at_id", "rejudges")
    op.create_index("ix_packages_slug", "packages", ["slug"])
    op.drop_index("ix_packages_slug_created_at_version", "packages")
    op.drop_table("publications")
