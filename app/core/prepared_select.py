"""SELECTs that pages need often: compiled once, and sent to the driver without SQLAlchemy's layers.

SQLite answers within microseconds, in the thread of the event loop, and PostgreSQL within tens of them. What SQLAlchemy
does around that takes longer, and is the same for each request: it finds the compiled text, builds contexts and wraps
the cursor.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from sqlalchemy import ColumnElement, Dialect, IteratorResult, Result, Select
from sqlalchemy.engine import Connection
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import BindParameter

_Convert = Callable[[Any], Any] | None


class PreparedSelect:
    """A statement that is built once, such as at the top of a module, and executed with other values each time.

    A list of values (`in_(bindparam(..., expanding=True))`) is filled up with its last value to a power of two, so that
    there are few texts for it.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]]) -> None:
        self.statement = statement
        binds = [each for each in visitors.iterate(statement) if isinstance(each, BindParameter)]
        self._lists = sorted({each.key for each in binds if each.expanding and each.required})
        self._compiled: dict[tuple[object, ...], _Compiled] = {}

    def where(self, *conditions: ColumnElement[bool]) -> "Select[*tuple[Any, ...]] | PreparedSelect":
        """With further conditions, it is built for this one time. Without any, it is the same."""
        return self.statement.where(*conditions) if conditions else self

    async def execute(self, connection: AsyncConnection, values: Mapping[str, Any]) -> Result[*tuple[Any, ...]]:
        """The rows, in the transaction of this connection.

        Raises:
          KeyError: a value is left out.
          SQLAlchemyError: as `AsyncConnection.execute` does.
        """
        dialect = connection.dialect
        lengths = {name: _power_of_two(len(values[name])) for name in self._lists}
        key = (dialect.name, *lengths.values())
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compiled[key] = _Compiled(self.statement, dialect, lengths)
        return await compiled.execute(connection, values)


def _power_of_two(length: int) -> int:
    """The least one that is at least this length, or 0."""
    return 1 << (length - 1).bit_length() if length else 0


class _Parameter(NamedTuple):
    """`name` is that of the text, and `key` that of the values. `own` is the value if none must be given.

    `number` is its place, from 0, if it is one of a list.
    """

    name: str
    key: str
    number: int | None
    required: bool
    own: object
    store: _Convert


class _Compiled:
    """A statement for the databases of one dialect, and lists of these lengths."""

    def __init__(self, statement: Select[*tuple[Any, ...]], dialect: Dialect, lengths: Mapping[str, int]) -> None:
        compiled = statement.compile(dialect=dialect)
        required = {each.key: None for each in compiled.bind_names if each.required}
        expanded = compiled.construct_expanded_state(
            required | {name: [None] * length for name, length in lengths.items()}
        )
        self._text = expanded.statement
        # SQLite takes the values in the order of the text, and PostgreSQL by name.
        self._is_positional = compiled.positional
        lists = expanded.parameter_expansion
        in_list = {name: (listed, number) for listed, names in lists.items() for number, name in enumerate(names)}
        self._parameters = []
        for name in expanded.positiontup or expanded.parameters:
            listed, number = in_list.get(name, (name, None))
            bind = compiled.binds[listed]
            store = bind.type.dialect_impl(dialect).bind_processor(dialect)
            self._parameters.append(_Parameter(name, bind.key, number, bind.required, bind.effective_value, store))
        self._types = [each.type.dialect_impl(dialect) for each in statement.selected_columns]
        self._keys = SimpleResultMetaData(statement.selected_columns.keys())
        # How to read each column, which depends on what the database says that it returns.
        self._read: list[_Convert] | None = None

    async def execute(self, connection: AsyncConnection, values: Mapping[str, Any]) -> Result[*tuple[Any, ...]]:
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

    def _sent(self, values: Mapping[str, Any]) -> tuple[object, ...] | dict[str, object]:
        sent = {}
        for name, key, number, required, own, store in self._parameters:
            value = values[key] if required else values.get(key, own)
            if number is not None:
                value = value[min(number, len(value) - 1)]
            sent[name] = value if store is None else store(value)
        return tuple(sent[each.name] for each in self._parameters) if self._is_positional else sent


def _fail(connection: Connection, error: BaseException, text: str, sent: Any) -> NoReturn:
    """Raise it as SQLAlchemy raises it for its own statements, which discards a connection that cannot be used."""
    # With a statement, it would also wrap what the database has not raised, such as a text that is not Unicode.
    statement = text if isinstance(error, connection.dialect.loaded_dbapi.Error) else None
    try:
        raise error
    except BaseException as raised:
        connection._handle_dbapi_exception(raised, statement, sent, None, None)
