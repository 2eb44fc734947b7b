"""Log lines: one shape for ours and for those of libraries, as text for people or as JSON for programs.

Code logs by the standard library's `logging`; what belongs to a line goes into `extra` under one of the names in
`FIELDS`, and everything else in `extra` is dropped. What is bound by `structlog.contextvars` (the request's id, the
attempt's id) is added to each line. No line holds a submission, what it printed, a header, a body or a query string.
"""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from app.settings import LogFormat, LogLevel
from app.web.terminal import plain_text

FIELDS = frozenset({"attempt_id", "method", "ms", "phase", "problem", "reason", "route", "state", "status"})
_OURS = ("app", "grader")


def set_up_logs(log_format: LogFormat, level: LogLevel, stream: TextIO | None = None) -> None:
    """Send every log line of this process to `stream` (standard error); ours from `level` on.

    Libraries are heard from warnings on: at their lower levels they tell of addresses and arguments.
    """
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_formatter(log_format))
    ours = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(ours, logging.WARNING), force=True)
    for name in _OURS:
        logging.getLogger(name).setLevel(ours)


def _formatter(log_format: LogFormat) -> logging.Formatter:
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.ExtraAdder(allow=FIELDS),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            # The plain traceback: others show the values of variables, and some of those are submissions.
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer() if log_format == "json" else _as_text,
        ],
    )


def _as_text(logger: WrappedLogger, name: str, event: EventDict) -> str:
    """`2026-01-05T09:30:00.004Z info app.operating.requests: request method=GET route=/ status=200`"""
    head = " ".join(str(event.pop(key)) for key in ("timestamp", "level", "logger"))
    said, trace = str(event.pop("event")), event.pop("exception", None)
    fields = "".join(f" {key}={value}" for key, value in event.items())
    # One line, whatever is in it: nothing that is told can pretend to be a line of its own.
    line = plain_text(f"{head}: {said}{fields}").replace("\n", "␊")
    return line if trace is None else f"{line}\n{trace}"
