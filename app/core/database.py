"""The database: an async engine for SQLite or PostgreSQL, and its two kinds of session."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import aiosqlite
import psycopg
from sqlalchemy import URL, ColumnElement, DateTime, Dialect, Float, MetaData, delete, event, literal, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, ExceptionContext
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from app.core.ids import is_id
from app.core.start_errors import SettingInvalid

__all__ = ["UNAVAILABLE", "Base", "Database", "FromNow", "NoConnectionFree", "UTCDateTime", "insert_into", "may_pause"]

# What is raised while it is locked, down or full, or while no connection becomes free. Nothing was stored.
UNAVAILABLE = (OperationalError, InterfaceError, NoConnectionFree)
_POOL_SIZE = 5
# A longer wait only makes the line longer. It is better to try again later.
_FREE_WITHIN_S = 1.0
_BUSY_LIMIT_S = 5.0
_BUSY_AGAIN_S = 0.01
# Of PostgreSQL. A process that freezes in a transaction would keep its locks, so the server ends such a transaction.
# Every transaction of ours takes milliseconds.
_IDLE_IN_TRANSACTION_S = 10.0
# A connection whose other end has vanished without a word ends after half a minute, in libpq and in the server.
_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_UNANSWERED_MS = 30_000
_LIVENESS: dict[str, Any] = {**_KEEPALIVE, "tcp_user_timeout": _UNANSWERED_MS, "connect_timeout": 10}
T = TypeVar("T")


class UTCDateTime(TypeDecorator[datetime]):
    """An aware time in UTC, even on SQLite, which does not store the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("a stored time must have a zone")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class FromNow(FunctionElement[datetime]):
    """The moment this many seconds from now, by the database's clock, which all machines share.

    Every deadline that another machine compares with its own time is written and compared with this.
    """

    type = UTCDateTime()
    inherit_cache = True

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(literal(float(seconds), Float()))


@compiles(FromNow, "postgresql")
def _from_now_postgresql(element: FromNow, compiler: SQLCompiler, **options: Any) -> str:
    return f"(statement_timestamp() + {compiler.process(element.clauses, **options)} * interval '1 second')"


@compiles(FromNow, "sqlite")
def _from_now_sqlite(element: FromNow, compiler: SQLCompiler, **options: Any) -> str:
    # As SQLAlchemy stores a time, to the microsecond.
    after = f"{compiler.process(element.clauses, **options)} || ' seconds'"
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', {after}) || '000')"


class Base(DeclarativeBase):
    """Parent of every table. Each constraint has a name, so that a later migration can drop it."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Database:
    """Open it once per process.

    `reading()` sees one state of the data. `writing()` commits when its block returns, and rolls back when it raises.
    Never open one inside the other: on SQLite the second writer would wait for the first.
    """

    def __init__(
        self, url: str | URL, *, connections: int = 15, idle_in_transaction_s: float = _IDLE_IN_TRANSACTION_S
    ) -> None:
        """`connections` is the most that this process uses at a time. Of idle ones, it keeps a few.

        PostgreSQL ends a transaction in which this process has sent nothing for `idle_in_transaction_s`.
        """
        self.connections = connections
        try:
            parsed = make_url(url)
            if parsed.drivername in ("postgresql", "postgres"):
                parsed = parsed.set(drivername="postgresql+psycopg")
            if parsed.get_backend_name() not in ("sqlite", "postgresql"):
                raise SettingInvalid("database_url", "it must start with postgresql:// or sqlite+aiosqlite://")
            is_sqlite = parsed.get_backend_name() == "sqlite"
            self.engine = create_async_engine(
                parsed,
                connect_args={"async_creator_fn": _connect_sqlite} if is_sqlite else _LIVENESS,
                # The message of an error is logged, and a parameter can be a submission.
                hide_parameters=True,
                pool_size=min(_POOL_SIZE, connections),
                max_overflow=max(0, connections - _POOL_SIZE),
                pool_timeout=_FREE_WITHIN_S,
                # PostgreSQL may restart: this finds a dead connection before it is used.
                pool_pre_ping=not is_sqlite,
            )
        except ArgumentError:
            raise SettingInvalid("database_url", "it is not a database URL") from None
        file = parsed.database if parsed.get_backend_name() == "sqlite" else None
        self.name = file or parsed.render_as_string(hide_password=True)
        self._turn: asyncio.Lock | None = None
        if parsed.get_backend_name() == "sqlite":
            # A writer that meets another one sleeps and tries again. Those of this process take turns instead.
            self._turn = asyncio.Lock()
            event.listen(self.engine.sync_engine, "connect", _prepare_sqlite)
            event.listen(self.engine.sync_engine, "begin", _begin_sqlite)
        else:
            prepare = partial(_prepare_postgresql, idle_in_transaction_s=idle_in_transaction_s)
            event.listen(self.engine.sync_engine, "connect", prepare)
            event.listen(self.engine.sync_engine, "handle_error", _as_unavailable, retval=True)
        self._reader = async_sessionmaker(self.engine, expire_on_commit=False)
        self._writer = async_sessionmaker(self.engine.execution_options(writer=True), expire_on_commit=False)

    @property
    def shared(self) -> bool:
        """Whether other machines can use it too: true for PostgreSQL."""
        return self.engine.dialect.name == "postgresql"

    @property
    def conninfo(self) -> str:
        """The connection string of this PostgreSQL for libpq, including the password. A dead connection is noticed."""
        url = self.engine.url.set(drivername="postgresql")
        added = {name: str(value) for name, value in _LIVENESS.items() if name not in url.query}
        return url.update_query_dict(added).render_as_string(hide_password=False)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        async with self._opened(self._reader) as session:
            yield session

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        if self._turn is None:
            async with self._writer.begin() as session:
                yield session
            return
        async with self._turn, self._opened(self._writer) as session:
            yield session
            await session.commit()

    @property
    def in_use(self) -> int:
        """How many of the connections are in use."""
        pool = self.engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    async def delete_one(self, row: Any, row_id: str, *where: ColumnElement[bool]) -> bool:
        """Delete the row with this id if it also meets the conditions. Returns whether there was one."""
        if not is_id(row_id):
            return False
        async with self.writing() as session:
            return await session.scalar(delete(row).where(row.id == row_id, *where).returning(row.id)) is not None

    async def close(self) -> None:
        await self.engine.dispose()

    @asynccontextmanager
    async def _opened(self, sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[AsyncSession]:
        if self._turn is None:
            async with sessions() as session:
                yield session
            return
        # Not `async with`: it closes in a separate task, in case this one is cancelled, so it waits for the loop while
        # the write lock is taken. Here nothing waits, so nothing can be cancelled either.
        session = sessions()
        try:
            yield session
        finally:
            await session.close()


class _SQLiteConnection(aiosqlite.Connection):
    """Runs each statement immediately, in the thread of the event loop instead of a separate one.

    Our statements use an index and take microseconds. If a thread ran them, each result would wait its turn among all
    requests, and a transaction has a dozen statements: with a busy loop, each transaction kept SQLite's only write lock
    for long. If another process has the lock, the statement is tried again later, and other requests run in between.
    """

    async def _execute(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        if self._connection is None:
            raise ValueError("no active connection")
        deadline = time.monotonic() + _BUSY_LIMIT_S
        while True:
            try:
                return fn(*args, **kwargs)
            except sqlite3.OperationalError as error:
                # A statement that was refused as busy has changed nothing, so it can be tried again.
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(_BUSY_AGAIN_S)


def _connect_sqlite(database: str, **options: Any) -> aiosqlite.Connection:
    # The base class opens and closes the file in its thread. Between the two, only the loop uses the connection.
    connect_options = options | {"timeout": 0, "check_same_thread": False}
    connection = _SQLiteConnection(lambda: sqlite3.connect(database, **connect_options), iter_chunk_size=64)
    connection._thread.daemon = True
    return connection


def insert_into(session: AsyncSession, row: type[Base]) -> Any:
    """The dialect's own INSERT, which can handle a row that already exists: `.on_conflict_do_nothing()`.

    SQLAlchemy has no common type for the two.
    """
    return (postgresql if session.get_bind().dialect.name == "postgresql" else sqlite).insert(row)


def _prepare_sqlite(connection: Any, record: object) -> None:
    # Python's sqlite3 begins transactions late and runs DDL outside them. With None, `_begin_sqlite` decides.
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#sqlite-transactions
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _prepare_postgresql(connection: Any, record: object, *, idle_in_transaction_s: float) -> None:
    # Not in the connection string, because poolers refuse it there.
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = {round(idle_in_transaction_s * 1000)}")
    cursor.execute(f"SET tcp_user_timeout = {_UNANSWERED_MS}")
    for name in ("idle", "interval", "count"):
        cursor.execute(f"SET tcp_keepalives_{name} = {_KEEPALIVE[f'keepalives_{name}']}")
    cursor.close()
    connection.commit()


def may_pause(connection: Connection) -> None:
    """This transaction may leave the server waiting, because it reads or writes a file in between."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def _as_unavailable(context: ExceptionContext) -> Exception | None:
    """psycopg calls a transaction that was idle for too long an internal error. As when PostgreSQL restarts, nothing of
    it was stored, and it can be tried again."""
    if not isinstance(context.original_exception, psycopg.errors.IdleInTransactionSessionTimeout):
        return None
    context.is_disconnect = True
    return OperationalError(
        context.statement, None, context.original_exception, hide_parameters=True, connection_invalidated=True
    )


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE: a transaction that reads first and writes later would fail with "locked" without waiting.
    writer = connection.get_execution_options().get("writer", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")
