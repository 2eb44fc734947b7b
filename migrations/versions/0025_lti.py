"""LTI 1.3: platforms, keys, launches, links and scores."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def _id(name: str = "id") -> "sa.Column[str]":
    return sa.Column(name, sa.String(32), nullable=False)


def _text(name: str, length: int, *, nullable: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.String(length), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> "sa.Column[sa.DateTime]":
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "lti_platforms",
        _id(),
        _text("name", 100),
        _text("issuer", 200),
        _text("client_id", 200),
        _text("login_url", 1000),
        _text("token_url", 1000),
        _text("keys_url", 1000),
        sa.Column("deployments", sa.Text(), nullable=False),
        sa.Column("grants_instructor", sa.Boolean(), nullable=False),
        _time("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_lti_platforms"),
        sa.UniqueConstraint("issuer", "client_id", name="uq_lti_platforms_issuer_client_id"),
    )
    op.create_table(
        "lti_keys",
        _id(),
        sa.Column("sealed", sa.Text(), nullable=False),
        _time("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_lti_keys"),
    )
    op.create_table(
        "lti_launches",
        _text("nonce_hash", 64),
        _text("ticket_hash", 64, nullable=True),
        _text("browser_hash", 64),
        _id("platform_id"),
        sa.Column("message", sa.Text(), nullable=False),
        _time("expires_at"),
        sa.ForeignKeyConstraint(
            ["platform_id"], ["lti_platforms.id"], name="fk_lti_launches_platform_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("nonce_hash", name="pk_lti_launches"),
        sa.UniqueConstraint("ticket_hash", name="uq_lti_launches_ticket_hash"),
    )
    op.create_index("ix_lti_launches_expires_at", "lti_launches", ["expires_at"])
    op.create_table(
        "lti_contexts",
        _id(),
        _id("platform_id"),
        _text("context", 255),
        _text("title", 100),
        _text("members_url", 1000, nullable=True),
        _text("course_id", 32, nullable=True),
        _time("roster_at", nullable=True),
        sa.ForeignKeyConstraint(
            ["platform_id"], ["lti_platforms.id"], name="fk_lti_contexts_platform_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["course_id"], ["courses.id"], name="fk_lti_contexts_course_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_lti_contexts"),
        sa.UniqueConstraint("platform_id", "context", name="uq_lti_contexts_platform_id_context"),
    )
    op.create_index("ix_lti_contexts_course_id", "lti_contexts", ["course_id"])
    op.create_table(
        "lti_links",
        _id(),
        _id("context_id"),
        _text("resource", 255),
        _text("title", 100),
        _text("problem", 64, nullable=True),
        _text("assignment_id", 32, nullable=True),
        _text("line_item", 1000, nullable=True),
        sa.ForeignKeyConstraint(
            ["context_id"], ["lti_contexts.id"], name="fk_lti_links_context_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_lti_links_assignment_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_lti_links"),
        sa.UniqueConstraint("context_id", "resource", name="uq_lti_links_context_id_resource"),
    )
    op.create_index("ix_lti_links_problem", "lti_links", ["problem"])
    op.create_index("ix_lti_links_assignment_id", "lti_links", ["assignment_id"])
    op.create_table(
        "lti_scores",
        _id(),
        _id("link_id"),
        _id("user_id"),
        _text("subject", 255),
        sa.Column("tries", sa.Integer(), nullable=False),
        _time("next_try_at", nullable=True),
        _time("delivered_at", nullable=True),
        _text("answer", 200, nullable=True),
        _text("fence_token", 32, nullable=True),
        _time("lease_until", nullable=True),
        sa.ForeignKeyConstraint(["link_id"], ["lti_links.id"], name="fk_lti_scores_link_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_lti_scores_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_lti_scores"),
        sa.UniqueConstraint("link_id", "subject", name="uq_lti_scores_link_id_subject"),
    )
    op.create_index("ix_lti_scores_user_id", "lti_scores", ["user_id"])
    op.create_index("ix_lti_scores_next_try_at", "lti_scores", ["next_try_at"])
    op.create_table(
        "lti_selections",
        _id(),
        _id("user_id"),
        _text("context_id", 32, nullable=True),
        _id("platform_id"),
        _text("deployment", 255),
        _text("return_url", 1000),
        sa.Column("data", sa.Text()),
        _time("expires_at"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_lti_selections_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["context_id"], ["lti_contexts.id"], name="fk_lti_selections_context_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["platform_id"], ["lti_platforms.id"], name="fk_lti_selections_platform_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_lti_selections"),
    )
    op.create_index("ix_lti_selections_user_id", "lti_selections", ["user_id"])


def downgrade() -> None:
    for table in (
        "lti_selections",
        "lti_scores",
        "lti_links",
        "lti_contexts",
        "lti_launches",
        "lti_keys",
        "lti_platforms",
    ):
        op.drop_table(table)
