"""Steps of migrations that take long with much data: in batches, so that no table stays locked, and repeatable."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import context, op

_BATCH = 500
# How many rows between two reports.
_REPORT = 5000


def add_column_once(table: str, column: sa.Column[Any]) -> None:
    """Add it unless an earlier try did, before it was interrupted."""
    if column.name not in {each["name"] for each in sa.inspect(op.get_bind()).get_columns(table)}:
        op.add_column(table, column)


def update_in_batches(
    table: sa.TableClause,
    read: Sequence[sa.ColumnElement[Any]],
    where: sa.ColumnElement[bool],
    values_of: Callable[[Sequence[Any]], dict[str, Any]],
) -> None:
    """Update the rows of a table with a string `id`, some at a time.

    On a database in use, each batch is a transaction, and so is what the migration did before. The migration may be run
    again after any of them: what comes before this step must be repeatable, and what comes after it belongs to the last
    transaction.

    Args:
      read: what `values_of` reads, after the id.
      values_of: the new values for some rows.
    """
    connection, say = op.get_bind(), context.config.attributes.get("say")
    total = connection.scalar(sa.select(sa.func.count()).select_from(table).where(where)) or 0
    last, done = "", 0
    while True:
        rows = connection.execute(
            sa.select(table.c.id, *read).where(where, table.c.id > last).order_by(table.c.id).limit(_BATCH)
        ).all()
        if rows:
            ids = [row[0] for row in rows]
            connection.execute(sa.update(table).where(table.c.id.in_(ids)).values(values_of(rows)))
        if say:
            connection.commit()
            done += len(rows)
            if rows and (done % _REPORT == 0 or done == total):
                say(f"{done:,} of {total:,} rows of {table.name}")
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def fill_from_verdicts(column: sa.ColumnClause[Any], where: str, value_of: Callable[[dict[str, Any]], object]) -> None:
    """Fill a column of the attempts that have a verdict, in batches.

    Args:
      value_of: the value for a verdict.
    """
    attempts = sa.table("attempts", sa.column("id", sa.String()), sa.column("verdict", sa.Text()), column)

    def values(rows: Sequence[Any]) -> dict[str, Any]:
        # Read here and not by the database: PostgreSQL's JSON operators refuse a text that holds \u0000 anywhere, and
        # what a submission printed may.
        found = {key: value_of(json.loads(verdict)) for key, verdict in rows}
        whens = [(attempts.c.id == key, sa.literal(value, column.type)) for key, value in found.items()]
        return {column.name: sa.case(*whens)}

    has_verdict = sa.and_(attempts.c.verdict.is_not(None), sa.text(where))
    update_in_batches(attempts, [sa.cast(attempts.c.verdict, sa.Text())], has_verdict, values)
