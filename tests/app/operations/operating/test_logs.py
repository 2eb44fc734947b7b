"""Log lines: text and JSON, what is in them and what never is."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog

from app.operations.operating.logs import set_up_logs


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in ("app", "grader"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_a_line_of_text_can_be_read():
    stream = io.StringIO()
    set_up_logs("text", "info", stream)
    with structlog.contextvars.bound_contextvars(request_id="abc"):
        logging.getLogger("app.somewhere").info("it took %d tries", 2, extra={"route": "/", "source": "secret"})
    line = stream.getvalue()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT[\d:.]+Z info app\.somewhere: it took 2 tries request_id=abc route=/\n", line
    ), line


def test_a_line_of_json_holds_the_same():
    stream = io.StringIO()
    set_up_logs("json", "info", stream)
    with structlog.contextvars.bound_contextvars(attempt_id="abc"):
        logging.getLogger("grader.judging.judge").warning("gone", extra={"ms": 1.5, "source": "secret"})
    line = json.loads(stream.getvalue())
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "gone",
        "level": "warning",
        "logger": "grader.judging.judge",
        "attempt_id": "abc",
        "ms": 1.5,
    }


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_traceback_shows_no_value_of_a_variable(log_format):
    stream = io.StringIO()
    set_up_logs(log_format, "error", stream)
    source = "print('CANARY')".lower()
    try:
        len(source) / 0
    except ZeroDivisionError:
        logging.getLogger("app").exception("it broke")
    assert "ZeroDivisionError" in stream.getvalue()
    assert "len(source) / 0" in stream.getvalue()
    assert "canary" not in stream.getvalue()


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_nothing_that_is_told_can_pretend_to_be_another_line(log_format):
    stream = io.StringIO()
    set_up_logs(log_format, "info", stream)
    logging.getLogger("app").info("a\n2026-01-05 error app: b\x1b[2J", extra={"phase": "c\nd"})
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_levels_are_ours_alone_and_libraries_are_heard_from_warnings_on():
    stream = io.StringIO()
    set_up_logs("text", "debug", stream)
    logging.getLogger("app.a").debug("heard 1")
    logging.getLogger("httpx").info("https://grader/?token=secret")
    logging.getLogger("httpx").warning("heard 2")
    set_up_logs("text", "error", stream)
    logging.getLogger("app.a").warning("not heard")
    logging.getLogger("httpx").warning("not heard")
    assert re.findall(r"heard \d|not heard|secret", stream.getvalue()) == ["heard 1", "heard 2"]
