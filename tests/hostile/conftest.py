"""The arena of the hostile suite: one for each test process, and checked after each batch of attacks."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hostile.arena import Arena
from tests.hostile.witnesses import Step, fault_of, harm
from tests.slow_tests import group_of

# The arena, and what it has graded since it was checked.
_ARENA = pytest.StashKey[Arena]()
_SINCE_CHECK = pytest.StashKey[list[Step]]()


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Arena]:
    with Arena(tmp_path_factory.mktemp("arena")) as arena:
        request.config.stash[_ARENA] = arena
        yield arena


@pytest.fixture
def since_check(pytestconfig: pytest.Config) -> list[Step]:
    return pytestconfig.stash.setdefault(_SINCE_CHECK, [])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After a batch's last attack, fail if one of them did harm."""
    stash, fault = item.config.stash, None
    if nextitem is None or group_of(nextitem) != group_of(item):
        batch, stash[_SINCE_CHECK] = stash.get(_SINCE_CHECK, []), []
        if batch and (found := harm(stash[_ARENA])):
            fault = fault_of(batch, found, _new_arena)
    yield
    if fault:
        pytest.fail(fault, pytrace=False)


@contextmanager
def _new_arena() -> Iterator[Arena]:
    with tempfile.TemporaryDirectory() as folder, Arena(Path(folder)) as arena:
        yield arena
