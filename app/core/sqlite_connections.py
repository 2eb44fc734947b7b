"""How this process connects to SQLite and begins its transactions there."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

_BUSY_LIMIT_S = 5.0
_BUSY_AGAIN_S = 0.002
# The second: another process reads the log of one that died.
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)
T = TypeVar("T")


def listen_to_sqlite(engine: Engine) -> None:
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)


class _SQLiteConnection(aiosqlite.Connection):
    """Runs each statement immediately, in the thread of the event loop instead of a separate one.

    Our statements use an index and take microseconds. If a thread ran them, each result would wait its turn among all
    requests, and a transaction has a dozen statements: with a busy loop, each transaction kept SQLite's only write lock
    for long. If another process has the lock, the statement is tried again later, and other requests run in between.
    """

    def begin_reading(self) -> None:
        """This takes no lock yet, so it never waits."""
        self._conn.execute("BEGIN")

    async def _execute(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        if self._connection is None:
            raise ValueError("no active connection")
        deadline = time.monotonic() + _BUSY_LIMIT_S
        while True:
            try:
                return fn(*args, **kwargs)
            except sqlite3.OperationalError as error:
                # A statement that was refused as busy has changed nothing, so it can be tried again.
                if error.sqlite_errorcode not in _BUSY or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(_BUSY_AGAIN_S)


def connect_sqlite(database: str, **options: Any) -> aiosqlite.Connection:
    # The base class opens and closes the file in its thread. Between the two, only the loop uses the connection.
    connect_options = options | {"timeout": 0, "check_same_thread": False}
    connection = _SQLiteConnection(lambda: sqlite3.connect(database, **connect_options), iter_chunk_size=64)
    connection._thread.daemon = True
    return connection


def _prepare(connection: Any, record: object) -> None:
    # Python's sqlite3 begins transactions late and runs DDL outside them. With None, `_begin` decides.
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#sqlite-transactions
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin(connection: Connection) -> None:
    # IMMEDIATE: a transaction that reads first and writes later would fail with "locked" without waiting.
    if connection.get_execution_options().get("writer", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    driver = connection.connection.driver_connection
    assert isinstance(driver, _SQLiteConnection)
    driver.begin_reading()
