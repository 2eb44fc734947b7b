"""All data about one user, streamed as one JSON object: a list of rows for each table.

Every table with a `user_id` is exported, so that a new one cannot be forgotten. Rows whose `whom_id` is the user are
exported, too: what others did to them. Left out are columns named like a secret and which machine graded an attempt.

While an exam withholds the verdict of an attempt, the export has only what its author sent and what
app/grading/attempts/views.py marks as shown. Rows of other tables that name it are left out, unless `_ABOUT_SENDING`
has their table, and so are rejudges at its problem.
"""

import json
import re
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Table, or_, select, tuple_
from starlette.responses import StreamingResponse

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Base, Database
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import Withheld, withheld_of

_SECRET = re.compile(r"(hash|secret|token|(?<!idempotency_)key)$")
# Tables whose rows name an attempt and say nothing about its verdict.
_ABOUT_SENDING = frozenset({"comments", "shares", "withheld_attempts"})
# Columns of an attempt that no view has under this name. Its author sent them.
SENT = frozenset({"own_inputs", "idempotency_key", "guest"})
# An attempt's source and verdict may have 64 KiB or more each.
_ROWS_AT_ONCE = 50


def export_response(database: Database, user: User) -> StreamingResponse:
    """All data about the user, as a file to download."""
    headers = {
        "Content-Disposition": f'attachment; filename="meshgrade-{now():%Y-%m-%d}.json"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(export_of(database, user), media_type="application/json", headers=headers)


async def export_of(database: Database, user: User) -> AsyncIterator[bytes]:
    """Read page by page, without a transaction in between: a slow reader must not keep old states of the database."""
    users = Base.metadata.tables["users"]
    yield f'{{"exported_at": {_json(now())},\n"users": ['.encode()
    async for chunk in _rows(database, users, users.c.id == user.id, user):
        yield chunk
    for table in owned_tables():
        yield f'],\n"{table.name}": ['.encode()
        async for chunk in _rows(database, table, _is_about(table, user), user):
            yield chunk
    yield b"]}\n"


def _is_about(table: Table, user: User) -> ColumnElement[bool]:
    own = table.c.user_id == user.id
    return or_(own, table.c.whom_id == user.id) if "whom_id" in table.c else own


def owned_tables() -> list[Table]:
    return [table for table in Base.metadata.sorted_tables if "user_id" in table.c]


async def _rows(database: Database, table: Table, mine: ColumnElement[bool], user: User) -> AsyncIterator[bytes]:
    keys = list(table.primary_key)
    left_out = {"user_id", *(["gradings"] if table.name == AttemptRow.__tablename__ else [])}
    shown = [column.name for column in table.c if not _SECRET.search(column.name) and column.name not in left_out]
    query = select(table).where(mine).order_by(*keys).limit(_ROWS_AT_ONCE)
    page, separator = query, ""
    while True:
        async with database.reading() as session:
            rows = (await session.execute(page)).mappings().all()
            withheld = await withheld_of(session, user.id)
        for row in rows:
            if (names := _shown_of(table, row, shown, withheld)) is None:
                continue
            yield f"{separator}\n{_json({name: row[name] for name in names})}".encode()
            separator = ","
        if len(rows) < _ROWS_AT_ONCE:
            return
        page = query.where(tuple_(*keys) > tuple_(*(rows[-1][key.name] for key in keys)))


def _shown_of(table: Table, row: RowMapping, shown: Sequence[str], withheld: Withheld) -> Sequence[str] | None:
    """The columns of `shown` that an exam leaves of this row; None if it leaves nothing."""
    if not withheld.attempts or table.name in _ABOUT_SENDING:
        return shown
    if table.name != AttemptRow.__tablename__:
        return None if withheld.names_one(each for each in row.values() if isinstance(each, str)) else shown
    if row["kind"] == "rejudge":
        return None if row["problem"] in withheld.problems else shown
    if row["id"] not in withheld.attempts:
        return shown
    return [name for name in shown if name in AttemptJSON.shown_fields() | SENT]


def _json(value: object) -> str:
    return json.dumps(value, default=_text)


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
