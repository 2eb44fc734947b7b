"""Passwords, named tokens with scopes, sessions that can be told apart, invitations, identities, failed sign-ins."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TIME = sa.DateTime(timezone=True)
# A token of before could do everything, and still can.
_ALL_SCOPES = "read submit account instruct"


def upgrade() -> None:
    op.add_column("users", sa.Column("password_hash", sa.String(255)))
    _add_columns("sessions", {"user_agent": ("", 300)}, "last_used_at")
    _add_columns("api_tokens", {"name": ("preset", 100), "scopes": (_ALL_SCOPES, 100)}, "last_used_at", "expires_at")
    _create_owned(
        "invitations",
        ["token_hash"],
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("note", sa.String(100), nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
    )
    _create_owned(
        "identities",
        ["issuer", "subject"],
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
    )
    op.create_table(
        "sign_in_failures",
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_at", _TIME, nullable=False),
        sa.Column("blocked_until", _TIME),
        sa.PrimaryKeyConstraint("subject_hash", name="pk_sign_in_failures"),
    )
    op.create_index("ix_sign_in_failures_last_at", "sign_in_failures", ["last_at"])


def _add_columns(table: str, texts: dict[str, tuple[str, int]], *times: str) -> None:
    """Add `id` and the given columns; the texts are filled with their values in the rows that are there."""
    columns = {"id": 32} | {name: length for name, (_, length) in texts.items()}
    with op.batch_alter_table(table) as batch:
        for name, length in columns.items():
            batch.add_column(sa.Column(name, sa.String(length)))
        for name in times:
            batch.add_column(sa.Column(name, _TIME))
    _fill(table, {name: value for name, (value, _) in texts.items()})
    with op.batch_alter_table(table) as batch:
        for name, length in columns.items():
            batch.alter_column(name, existing_type=sa.String(length), nullable=False)
        batch.create_unique_constraint(f"uq_{table}_id", ["id"])


def _fill(name: str, values: dict[str, str]) -> None:
    columns = [sa.column(each, sa.String()) for each in ("token_hash", "id", *values)]
    table = sa.table(name, *columns)
    connection = op.get_bind()
    for token_hash in connection.scalars(sa.select(table.c.token_hash)).all():
        connection.execute(
            sa.update(table).where(table.c.token_hash == token_hash).values(id=secrets.token_hex(16), **values)
        )


def _create_owned(table: str, keys: list[str], *further: sa.Column[object]) -> None:
    op.create_table(
        table,
        *further,
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint(*keys, name=f"pk_{table}"),
        sa.UniqueConstraint("id", name=f"uq_{table}_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{table}_user_id", ondelete="CASCADE"),
    )
    op.create_index(f"ix_{table}_user_id", table, ["user_id"])


def downgrade() -> None:
    for table in ("sign_in_failures", "identities", "invitations"):
        op.drop_table(table)
    _drop_columns("api_tokens", "id", "name", "scopes", "last_used_at", "expires_at")
    _drop_columns("sessions", "id", "user_agent", "last_used_at")
    op.drop_column("users", "password_hash")


def _drop_columns(table: str, *names: str) -> None:
    with op.batch_alter_table(table) as batch:
        batch.drop_constraint(f"uq_{table}_id", type_="unique")
        for name in names:
            batch.drop_column(name)
