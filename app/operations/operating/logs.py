"""Log lines: one format for ours and for those of libraries, as text for people or as JSON for programs.

Code logs with the standard library's `logging`. The fields of a line go into `extra` under the names in `FIELDS`;
anything else in `extra` is dropped. Each line also gets the values that `structlog.contextvars` binds (the ids of the
request and the attempt). No line contains a submission, its output, a header, a body or a query string.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from structlog.contextvars import get_contextvars

from app.core.settings import LogFormat, LogLevel
from app.operations.operating.outage_log import Outages
from grader.core.text import plain_text

FIELDS = ("attempt_id", "method", "ms", "phase", "problem", "reason", "route", "state", "status", "worker")
_OURS = ("app", "grader")


def set_up_logs(log_format: LogFormat, level: LogLevel, stream: TextIO | None = None) -> None:
    """Send every log line of this process to `stream` (standard error by default), ours from `level` up.

    Libraries log from warnings up: at lower levels, their lines contain addresses and arguments.
    """
    stream = stream or sys.stderr
    # No line names a thread, a process or a place in the code, and finding them takes a third of a line's time.
    # Source: https://docs.python.org/3/howto/logging.html#optimization
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None
    handler = _Stream(stream)
    handler.setFormatter(_Lines(log_format))
    ours = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(ours, logging.WARNING), force=True)
    for name in _OURS:
        logging.getLogger(name).setLevel(ours)


class _Stream(logging.StreamHandler[TextIO]):
    """Writes one line for an outage of the database."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._outages = Outages()

    def emit(self, record: logging.LogRecord) -> None:
        if (replaced := self._outages.replaced(record)) is not None:
            super().emit(replaced)


class _Lines(logging.Formatter):
    """One line per record, and a plain traceback: others show the values of variables, which can be submissions.

    Not structlog's formatter, which copies each record and takes three times as long.
    """

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._write = _as_json if log_format == "json" else _as_text

    def format(self, record: logging.LogRecord) -> str:
        attributes = record.__dict__
        event = {
            "timestamp": datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="microseconds")
            .replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **get_contextvars(),
            **{name: attributes[name] for name in FIELDS if name in attributes},
        }
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return self._write(event)


def _as_json(event: dict[str, Any]) -> str:
    return json.dumps(event, default=repr)


def _as_text(event: dict[str, Any]) -> str:
    """`2026-01-05T09:30:00.004000Z info app.operations.operating.request_log: request method=GET route=/ status=200`"""
    head = " ".join(str(event.pop(key)) for key in ("timestamp", "level", "logger"))
    message, trace = str(event.pop("event")), event.pop("exception", None)
    fields = "".join(f" {key}={value}" for key, value in event.items())
    # Always one line: no message can pretend to be another line.
    line = plain_text(f"{head}: {message}{fields}").replace("\n", "␊")
    return line if trace is None else f"{line}\n{trace}"
