"""The arena of the hostile suite: one for each test process."""

from collections.abc import Iterator

import pytest

from tests.hostile.arena import Arena


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with Arena(tmp_path_factory.mktemp("arena")) as arena:
        yield arena
