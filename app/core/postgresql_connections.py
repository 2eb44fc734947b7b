"""How this process connects to PostgreSQL, and notices that a connection is dead."""

import select
import time
from functools import partial
from typing import Any

import psycopg
from sqlalchemy import Dialect, event
from sqlalchemy.engine import Engine, ExceptionContext
from sqlalchemy.exc import InvalidatePoolError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

# How long after its last use a connection is taken to be alive. Longer than the pauses of what runs all the time.
_TRUSTED_S = 10.0
# Of PostgreSQL. A process that freezes in a transaction would keep its locks, so the server ends such a transaction.
# Every transaction of ours takes milliseconds.
IDLE_IN_TRANSACTION_S = 10.0
# A connection whose other end has vanished without a word ends after half a minute, in libpq and in the server.
_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_UNANSWERED_MS = 30_000
LIVENESS: dict[str, Any] = {**_KEEPALIVE, "tcp_user_timeout": _UNANSWERED_MS, "connect_timeout": 10}


def listen_to_postgresql(engine: Engine, *, idle_in_transaction_s: float) -> None:
    """The server ends a transaction in which this process has sent nothing for `idle_in_transaction_s`."""
    event.listen(engine, "connect", partial(_prepare, idle_in_transaction_s=idle_in_transaction_s))
    event.listen(engine, "handle_error", _as_unavailable, retval=True)
    event.listen(engine, "checkout", partial(_ping_if_unused, engine.dialect))
    event.listen(engine, "checkin", _note_use)


def _prepare(connection: Any, record: ConnectionPoolEntry, *, idle_in_transaction_s: float) -> None:
    _note_use(connection, record)
    # Not in the connection string, because poolers refuse it there.
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = {round(idle_in_transaction_s * 1000)}")
    cursor.execute(f"SET tcp_user_timeout = {_UNANSWERED_MS}")
    for name in ("idle", "interval", "count"):
        cursor.execute(f"SET tcp_keepalives_{name} = {_KEEPALIVE[f'keepalives_{name}']}")
    cursor.close()
    connection.commit()


def _note_use(connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["used_at"] = time.monotonic()


def _ping_if_unused(dialect: Dialect, connection: Any, record: ConnectionPoolEntry, proxy: object) -> None:
    """PostgreSQL may have restarted: find a dead connection before it is used.

    SQLAlchemy's own ping does so before each use, and is a transaction itself. A server that ends a connection says so,
    and one that rests has nothing else to say: so a connection that worked a moment ago needs no ping if it is silent.
    """
    try:
        is_trusted = time.monotonic() - record.info.get("used_at", float("-inf")) < _TRUSTED_S
        if not is_trusted or _has_news(connection.driver_connection.fileno()):
            dialect.do_ping(connection)
    except psycopg.Error as error:
        raise InvalidatePoolError from error


def _has_news(descriptor: int) -> bool:
    # Not select.select, which takes no descriptor above 1024.
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _as_unavailable(context: ExceptionContext) -> Exception | None:
    """psycopg calls a transaction that was idle for too long an internal error. As when PostgreSQL restarts, nothing of
    it was stored, and it can be tried again."""
    if not isinstance(context.original_exception, psycopg.errors.IdleInTransactionSessionTimeout):
        return None
    context.is_disconnect = True
    return OperationalError(
        context.statement, None, context.original_exception, hide_parameters=True, connection_invalidated=True
    )
