"""End a test that its timeout does not end: its process dumps the stack of every thread, and exits.

pytest-timeout raises an exception once. A test that swallows it, or whose teardown waits for what the exception
interrupted, would hang, and its log would say only that. With this, pytest-xdist names the test and continues in a new
process.
"""

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# How much longer than its timeout each phase of a test can take, because the exception may be late on a busy machine.
GRACE_S = 60.0
_STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # Do this before pytest captures output, because captured output would be lost.
    config.stash[_STDERR] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    os.close(config.stash[_STDERR])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with _exits(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _exits(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with _exits(item):
        return (yield)


@contextmanager
def _exits(item: pytest.Item) -> Iterator[None]:
    mark = item.get_closest_marker("timeout")
    timeout = float(mark.args[0] if mark and mark.args else item.config.getini("timeout"))
    faulthandler.dump_traceback_later(timeout + GRACE_S, exit=True, file=item.config.stash[_STDERR])
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
