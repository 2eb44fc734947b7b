"""SELECTs that pages need often: compiled once, and on SQLite executed without SQLAlchemy's layers.

SQLite answers within microseconds, in the thread of the event loop. What SQLAlchemy does around that takes several
times as long, and is the same for each request: it finds the compiled text, builds contexts and wraps the cursor.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Dialect, IteratorResult, Result, Select
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.ext.asyncio import AsyncConnection

_Convert = Callable[[Any], Any] | None


class PreparedSelect:
    """A statement that is built once, such as at the top of a module, and executed with other values each time.

    It has no parameter that stands for a list of values, as `in_` makes.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]]) -> None:
        self.statement = statement
        self._on_sqlite: _OnSQLite | None = None

    def where(self, *conditions: ColumnElement[bool]) -> "Select[*tuple[Any, ...]] | PreparedSelect":
        """With further conditions, it is built for this one time. Without any, it is the same."""
        return self.statement.where(*conditions) if conditions else self

    async def execute(self, connection: AsyncConnection, values: Mapping[str, object]) -> Result[*tuple[Any, ...]]:
        """The rows, in the transaction of this connection. Raises what `AsyncConnection.execute` raises."""
        if connection.dialect.name != "sqlite":
            return await _by_sqlalchemy(connection, self.statement, values)
        if self._on_sqlite is None:
            self._on_sqlite = _OnSQLite.of(self.statement, connection.dialect)
        try:
            return await self._on_sqlite.execute(connection, values)
        except sqlite3.Error:
            # The other way fails in the same way, and then says so as everywhere else.
            return await _by_sqlalchemy(connection, self.statement, values)


async def _by_sqlalchemy(
    connection: AsyncConnection, statement: Select[*tuple[Any, ...]], values: Mapping[str, object]
) -> Result[*tuple[Any, ...]]:
    result: Result[*tuple[Any, ...]] = await connection.execute(statement, values)
    return result


@dataclass(frozen=True, slots=True)
class _OnSQLite:
    """`parameters` are in the order of the text: the name, whether a value must be given, the one if it is not, and
    how to store it.
    """

    text: str
    parameters: tuple[tuple[str, bool, object, _Convert], ...]
    columns: tuple[_Convert, ...]
    keys: SimpleResultMetaData

    @classmethod
    def of(cls, statement: Select[*tuple[Any, ...]], dialect: Dialect) -> "_OnSQLite":
        compiled = statement.compile(dialect=dialect)
        if compiled.post_compile_params:
            # Its text depends on how many values there are.
            raise TypeError(f"cannot be prepared, because of a list of values: {compiled}")
        parameters = tuple(
            (bind.key, bind.required, bind.effective_value, bind.type.dialect_impl(dialect).bind_processor(dialect))
            for bind in (compiled.binds[name] for name in compiled.positiontup or ())
        )
        selected = statement.selected_columns
        columns = tuple(each.type.dialect_impl(dialect).result_processor(dialect, None) for each in selected)
        return cls(str(compiled), parameters, columns, SimpleResultMetaData(selected.keys()))

    async def execute(self, connection: AsyncConnection, values: Mapping[str, object]) -> Result[*tuple[Any, ...]]:
        sent = tuple(
            value if store is None else store(value)
            for name, required, own, store in self.parameters
            for value in [values[name] if required else values.get(name, own)]
        )
        through = connection.sync_connection
        assert through is not None
        # Tests count the statements of a page in this way.
        for note in through.dispatch.before_cursor_execute:
            note(through, None, self.text, sent, None, False)
        driver: Any = through.connection.driver_connection
        rows = await driver.execute_fetchall(self.text, sent)
        if any(self.columns):
            rows = [
                tuple(value if read is None else read(value) for read, value in zip(self.columns, row, strict=True))
                for row in rows
            ]
        return IteratorResult(self.keys, iter(rows))
