"""SELECTs that pages need often: compiled once, and sent to the driver without SQLAlchemy's layers.

SQLite answers within microseconds, in the thread of the event loop, and PostgreSQL in little more. What SQLAlchemy does
around that takes several times as long, and is the same for each request: it finds the compiled text, builds contexts
and wraps the cursor.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from sqlalchemy import ColumnElement, Dialect, IteratorResult, Result, Select
from sqlalchemy.engine import Connection
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.ext.asyncio import AsyncConnection

_Convert = Callable[[Any], Any] | None


class PreparedSelect:
    """A statement that is built once, such as at the top of a module, and executed with other values each time.

    It has no parameter that stands for a list of values, as `in_` makes.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]]) -> None:
        self.statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def where(self, *conditions: ColumnElement[bool]) -> "Select[*tuple[Any, ...]] | PreparedSelect":
        """With further conditions, it is built for this one time. Without any, it is the same."""
        return self.statement.where(*conditions) if conditions else self

    async def execute(self, connection: AsyncConnection, values: Mapping[str, object]) -> Result[*tuple[Any, ...]]:
        """The rows, in the transaction of this connection.

        Raises:
          KeyError: a value is left out.
          SQLAlchemyError: as `AsyncConnection.execute` does.
        """
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = _Compiled(self.statement, dialect)
        return await compiled.execute(connection, values)


class _Parameter(NamedTuple):
    """`name` is that of the text, and `key` that of the values. `own` is the value if none must be given."""

    name: str
    key: str
    required: bool
    own: object
    store: _Convert


class _Compiled:
    """A statement for the databases of one dialect."""

    def __init__(self, statement: Select[*tuple[Any, ...]], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        if compiled.post_compile_params:
            # Its text depends on how many values there are.
            raise TypeError(f"cannot be prepared, because of a list of values: {compiled}")
        self._text = str(compiled)
        # SQLite takes the values in the order of the text, and PostgreSQL by name.
        self._is_positional = compiled.positional
        names: Iterable[str] = (compiled.positiontup or ()) if compiled.positional else compiled.bind_names.values()
        self._parameters = []
        for name in names:
            bind = compiled.binds[name]
            store = bind.type.dialect_impl(dialect).bind_processor(dialect)
            self._parameters.append(_Parameter(name, bind.key, bind.required, bind.effective_value, store))
        self._types = [each.type.dialect_impl(dialect) for each in statement.selected_columns]
        self._keys = SimpleResultMetaData(statement.selected_columns.keys())
        # How to read each column, which depends on what the database says that it returns.
        self._read: list[_Convert] | None = None

    async def execute(self, connection: AsyncConnection, values: Mapping[str, object]) -> Result[*tuple[Any, ...]]:
        sent = self._sent(values)
        through = connection.sync_connection
        assert through is not None
        # Tests count the statements of a page in this way.
        for note in through.dispatch.before_cursor_execute:
            note(through, None, self._text, sent, None, False)
        driver: Any = through.connection.driver_connection
        try:
            cursor = await driver.execute(self._text, sent)
            rows = await cursor.fetchall()
        # Of any kind: a task that is cancelled, too, leaves the connection in an unknown state.
        except BaseException as error:
            await connection.run_sync(_fail, error, self._text, sent)
        if self._read is None:
            described = zip(self._types, cursor.description, strict=True)
            self._read = [each.result_processor(connection.dialect, column[1]) for each, column in described]
        if any(self._read):
            rows = [
                tuple(value if read is None else read(value) for read, value in zip(self._read, row, strict=True))
                for row in rows
            ]
        return IteratorResult(self._keys, iter(rows))

    def _sent(self, values: Mapping[str, object]) -> tuple[object, ...] | dict[str, object]:
        sent = {}
        for name, key, required, own, store in self._parameters:
            value = values[key] if required else values.get(key, own)
            sent[name] = value if store is None else store(value)
        return tuple(sent[each.name] for each in self._parameters) if self._is_positional else sent


def _fail(connection: Connection, error: BaseException, text: str, sent: Any) -> NoReturn:
    """Raise it as SQLAlchemy raises it for its own statements, which discards a connection that cannot be used."""
    try:
        raise error
    except BaseException as raised:
        connection._handle_dbapi_exception(raised, text, sent, None, None)
