"""Checks of a version; who was judged by which version of a problem, along an index."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TIME = sa.DateTime(timezone=True)
_JUDGED = sa.text("score IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "proofs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("fence_token", sa.String(32)),
        sa.Column("lease_until", _TIME),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_proofs"),
        sa.ForeignKeyConstraint(["version"], ["packages.version"], name="fk_proofs_version"),
    )
    op.create_index("ix_proofs_status_created_at", "proofs", ["status", "created_at"])
    op.create_index("ix_proofs_version_created_at", "proofs", ["version", "created_at"])
    op.create_index(
        "ix_attempts_judged", "attempts", ["problem", "version"], sqlite_where=_JUDGED, postgresql_where=_JUDGED
    )


def downgrade() -> None:
    op.drop_index("ix_attempts_judged", "attempts")
    op.drop_table("proofs")
