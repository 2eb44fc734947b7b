"""One line for a PostgreSQL that does not respond, instead of one for everything that fails because of it.

While it is down, each loop, each connection and each library logs each of its tries, most of them with a traceback: a
restart left hundreds of lines, and the reason of it in none of them. What is tried again needs no line of its own.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import ModuleType

# If nothing failed for this long, the next failure is another outage.
_OVER_AFTER_S = 30.0
# Of PostgreSQL: it is shutting down, it crashed, or it is starting.
_STATES = frozenset({"57P01", "57P02", "57P03"})
_CONNECTION_EXCEPTION = "08"


class Outages:
    """Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failed_at = float("-inf")

    def replaced(self, record: logging.LogRecord) -> logging.LogRecord | None:
        """The record to log instead of this one: itself, the line about an outage, or None during one."""
        if (reason := _lost_connection(record)) is None:
            return record
        with self._lock:
            is_new = self._clock() - self._failed_at > _OVER_AFTER_S
            self._failed_at = self._clock()
        return _line(record, reason) if is_new else None


def _line(record: logging.LogRecord, reason: str) -> logging.LogRecord:
    words = f"PostgreSQL does not respond ({reason[:300]}). What needs it is tried again without a further line."
    return logging.LogRecord(__name__, logging.ERROR, record.pathname, record.lineno, words, (), None)


def _lost_connection(record: logging.LogRecord) -> str | None:
    """Why the connection to PostgreSQL was lost or could not be made, if this record says so."""
    # If nobody has imported it, nothing in the record is of it.
    if (psycopg := sys.modules.get("psycopg")) is None:
        return None
    arguments = record.args if isinstance(record.args, tuple) else ()
    found = [record.exc_info[1] if record.exc_info else None, *arguments, record.__dict__.get("database_error")]
    for error in found:
        if isinstance(error, BaseException):
            for each in _chain(error):
                if _is_lost(type(each), psycopg, getattr(each, "sqlstate", None)):
                    return next(iter(str(each).strip().splitlines()), "") or type(each).__name__
        # As the pool says that it discards one, or rolls it back.
        elif isinstance(error, psycopg.BaseConnection) and error.broken:
            return "it closed a connection"
        # psycopg itself names the error that ended a query while that was being cancelled.
        elif isinstance(error, str) and record.name == "psycopg":
            kind = getattr(psycopg.errors, error, None)
            if isinstance(kind, type) and _is_lost(kind, psycopg, getattr(kind, "sqlstate", None)):
                return error
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    left = [error]
    while left:
        each = left.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            # SQLAlchemy keeps the driver's error in `orig`. Not `__context__`: an error of ours may be raised while one
            # of the database is handled.
            causes = (getattr(each, "orig", None), each.__cause__)
            left += [cause for cause in causes if isinstance(cause, BaseException)]


def _is_lost(kind: type, psycopg: ModuleType, state: str | None) -> bool:
    if not issubclass(kind, psycopg.OperationalError):
        return False
    # Without a state, it comes from libpq: there was no server to give one.
    return state is None or state.startswith(_CONNECTION_EXCEPTION) or state in _STATES
