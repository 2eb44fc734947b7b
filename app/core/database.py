"""The database: an async engine for SQLite or PostgreSQL, and its two kinds of session."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TypeVar

import psycopg
from sqlalchemy import (
    URL,
    ColumnElement,
    DateTime,
    Dialect,
    Float,
    MetaData,
    Result,
    Select,
    delete,
    literal,
    make_url,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from app.core.ids import is_id
from app.core.kept_json import to_json
from app.core.postgresql_connections import IDLE_IN_TRANSACTION_S, LIVENESS, listen_to_postgresql
from app.core.prepared_select import PreparedSelect
from app.core.sqlite_connections import connect_sqlite, listen_to_sqlite
from app.core.start_errors import SettingInvalid

__all__ = [
    "UNAVAILABLE",
    "Base",
    "Database",
    "FromNow",
    "NoConnectionFree",
    "UTCDateTime",
    "insert_into",
    "may_pause",
    "once",
    "select_rows",
    "why_not_written",
]

# What is raised while it is locked, down or full, or while no connection becomes free. Nothing was stored.
UNAVAILABLE = (OperationalError, InterfaceError, NoConnectionFree)
_POOL_SIZE = 5
# A longer wait only makes the line longer. It is better to try again later.
_FREE_WITHIN_S = 1.0
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


class _Reading(Session):
    """A session that stores nothing: what is changed in its objects is only shown."""

    def flush(self, objects: Sequence[Any] | None = None) -> None:
        """Do nothing."""


class _PlannedReading(_Reading):
    """One on PostgreSQL. It ends with COMMIT, although there is nothing to store.

    After each ROLLBACK, psycopg forgets which statements the server has planned. To plan them again takes the server
    longer than to read what a page shows.
    """

    def close(self) -> None:
        try:
            if self.in_transaction() and not (connection := self.connection()).invalidated:
                # Not the session's own `commit`, which goes through all that has been read. If the connection has
                # ended, all that was wanted of it has been read, and `close` discards it.
                with suppress(psycopg.Error):
                    connection.connection.commit()
        finally:
            super().close()


class Database:
    """Open it once per process.

    `reading()` sees one state of the data. `writing()` commits when its block returns, and rolls back when it raises.
    Never open one inside the other: on SQLite the second writer would wait for the first.
    """

    def __init__(
        self, url: str | URL, *, connections: int = 15, idle_in_transaction_s: float = IDLE_IN_TRANSACTION_S
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
                connect_args={"async_creator_fn": connect_sqlite} if is_sqlite else LIVENESS,
                # The message of an error is logged, and a parameter can be a submission.
                hide_parameters=True,
                json_serializer=to_json,
                pool_size=min(_POOL_SIZE, connections),
                max_overflow=max(0, connections - _POOL_SIZE),
                pool_timeout=_FREE_WITHIN_S,
                # Those that are not needed rest, and one that is used all the time needs no ping.
                pool_use_lifo=True,
            )
        except ArgumentError:
            raise SettingInvalid("database_url", "it is not a database URL") from None
        file = parsed.database if parsed.get_backend_name() == "sqlite" else None
        self.name = file or parsed.render_as_string(hide_password=True)
        self._turn: asyncio.Lock | None = None
        if parsed.get_backend_name() == "sqlite":
            # A writer that meets another one sleeps and tries again. Those of this process take turns instead.
            self._turn = asyncio.Lock()
            listen_to_sqlite(self.engine.sync_engine)
        else:
            listen_to_postgresql(self.engine.sync_engine, idle_in_transaction_s=idle_in_transaction_s)
        self._reader = async_sessionmaker(
            self.engine.execution_options(reader=True),
            sync_session_class=_PlannedReading if self.shared else _Reading,
            expire_on_commit=False,
            autoflush=False,
        )
        self._writer = async_sessionmaker(self.engine.execution_options(writer=True), expire_on_commit=False)

    @property
    def shared(self) -> bool:
        """Whether other machines can use it too: true for PostgreSQL."""
        return self.engine.dialect.name == "postgresql"

    @property
    def conninfo(self) -> str:
        """The connection string of this PostgreSQL for libpq, including the password. A dead connection is noticed."""
        url = self.engine.url.set(drivername="postgresql")
        added = {name: str(value) for name, value in LIVENESS.items() if name not in url.query}
        return url.update_query_dict(added).render_as_string(hide_password=False)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        shared = self._shared_reading()
        if shared is None:
            async with self._opened(self._reader) as session:
                yield session
            return
        try:
            yield shared.enter()
        except BaseException:
            # After an error, PostgreSQL refuses everything else in the transaction.
            await shared.release()
            raise
        finally:
            shared.leave()

    @asynccontextmanager
    async def reading_once(self) -> AsyncIterator[None]:
        """Let all `reading()` of this task share one transaction, which begins with the first of them.

        A `writing()` ends it, so later reads include what was written. A wait for anything but the database ends it
        too: a page that waits for a process or for another request's work would keep a connection that others need.
        """
        shared = _SharedReading(self, self._reader)
        token = _SHARED.set(shared)
        try:
            yield
        finally:
            _SHARED.reset(token)
            await shared.release()

    def _shared_reading(self) -> "_SharedReading | None":
        shared = _SHARED.get()
        return shared if shared is not None and shared.is_for(self) else None

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        if (shared := self._shared_reading()) is not None:
            await shared.release()
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

    @property
    def is_full(self) -> bool:
        """Whether all of the connections are in use."""
        return self.in_use >= self.connections

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


class _SharedReading:
    """The session that all reads of one task share; see `Database.reading_once`."""

    def __init__(self, database: Database, sessions: async_sessionmaker[AsyncSession]) -> None:
        self._database, self._sessions = database, sessions
        self._task = asyncio.current_task()
        self._session: AsyncSession | None = None
        self._readers = 0
        self._is_looked_at = False
        self._closing: set[asyncio.Task[None]] = set()

    def is_for(self, database: Database) -> bool:
        """False in a task that was started in between: two tasks cannot use one connection at a time."""
        return database is self._database and asyncio.current_task() is self._task

    def enter(self) -> AsyncSession:
        if self._session is None:
            self._session = self._sessions()
        self._readers += 1
        return self._session

    def leave(self) -> None:
        self._readers -= 1
        if not self._is_looked_at:
            # Called once the task waits: inside a `reading()`, or for something else.
            self._is_looked_at = True
            asyncio.get_running_loop().call_soon(self._let_go)

    def _let_go(self) -> None:
        self._is_looked_at = False
        if self._readers == 0 and self._session is not None:
            session, self._session = self._session, None
            self._closing.add(asyncio.create_task(session.close()))

    async def release(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        while self._closing:
            await self._closing.pop()


_CONNECTION = object()
_SHARED: ContextVar[_SharedReading | None] = ContextVar("shared reading", default=None)


async def once(session: AsyncSession, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
    """What `read` found the first time in this `reading()` session, for this key.

    A session reads one state of the data, so a page whose parts ask the same question asks the database once.
    """
    if key not in session.info:
        session.info[key] = await read()
    found: T = session.info[key]
    return found


async def select_rows(
    session: AsyncSession, statement: Select[*tuple[Any, ...]] | PreparedSelect, values: Mapping[str, object]
) -> Result[*tuple[Any, ...]]:
    """The selected columns, in the transaction of the session.

    Half as much work as `session.execute`, which also looks for objects in what it has read. Half of that again for a
    `PreparedSelect`.
    """
    if session.new or session.dirty or session.deleted:
        await session.flush()
    connection = session.info.get(_CONNECTION)
    if connection is None:
        connection = session.info[_CONNECTION] = await session.connection()
    if isinstance(statement, PreparedSelect):
        return await statement.execute(connection, values)
    result: Result[*tuple[Any, ...]] = await connection.execute(statement, values)
    return result


def insert_into(session: AsyncSession, row: type[Base]) -> Any:
    """The dialect's own INSERT, which can handle a row that already exists: `.on_conflict_do_nothing()`.

    SQLAlchemy has no common type for the two.
    """
    return (postgresql if session.get_bind().dialect.name == "postgresql" else sqlite).insert(row)


def may_pause(connection: Connection) -> None:
    """This transaction may leave the server waiting, because it reads or writes a file in between."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def why_not_written(error: SQLAlchemyError) -> str:
    """Why a transaction could not be stored, in words for people who monitor the service; without any value."""
    if isinstance(error, NoConnectionFree):
        return "all connections of this process are in use"
    original = getattr(error, "orig", None)
    text = str(original).lower()
    for words, reason in (
        ("full", "the disk is full"),
        ("no space left", "the disk is full"),
        ("readonly", "it is read-only"),
        ("read-only", "it is read-only"),
        ("locked", "another program has locked it"),
        ("disk i/o", "the disk fails"),
    ):
        if words in text:
            return reason
    return "it does not respond" if isinstance(error, UNAVAILABLE) else type(original or error).__name__
