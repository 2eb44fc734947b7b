"""Texts that the search looks in, in sections, with the full-text index of SQLite or PostgreSQL."""

import sqlalchemy as sa
from alembic import op

revision = "0060_0057"
down_revision = "0059_0057"

# Release 0.2.0 leaves tables whose names begin with shared_answers out of its backups, which cannot hold the BLOBs of
# FTS5. SQLite stores only the index, and reads the texts of a section where they are.
_SQLITE = (
    "CREATE VIRTUAL TABLE shared_answers_search USING fts5(heading, text, content='searched_sections', "
    "content_rowid='id', tokenize='unicode61 remove_diacritics 0')"
)


def upgrade() -> None:
    op.create_table(
        "searched_documents",
        sa.Column("key", sa.String(100), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("title", sa.String(400), nullable=False),
    )
    op.create_table(
        "searched_sections",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("document", sa.String(100), sa.ForeignKey("searched_documents.key"), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
    )
    op.create_index("ix_searched_sections_document", "searched_sections", ["document"])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_SQLITE)
        return
    op.execute("CREATE TABLE shared_answers_search (id INTEGER PRIMARY KEY, words TSVECTOR NOT NULL)")
    op.execute("CREATE INDEX ix_shared_answers_search_words ON shared_answers_search USING gin (words)")


def downgrade() -> None:
    op.drop_table("shared_answers_search")
    op.drop_table("searched_sections")
    op.drop_table("searched_documents")
