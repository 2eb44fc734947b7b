"""A test that not even its timeout ends: its process dumps where every thread is, and exits.

pytest-timeout raises an exception once. A test that swallows it, or whose teardown then waits for what the exception
interrupted, hangs for as long as the machine lets it. Its log then says only that it hung. Here,
pytest-xdist names the test and continues with a new process.
"""

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# How much longer than its timeout each phase of a test may take: the exception may come late on a busy machine.
GRACE_S = 60.0
_STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # Before pytest captures what tests print. What it has captured would be lost.
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
