"""A git repository, and a service that may reach it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.app.authoring.repositories.git_server import GitServer, serving_git
from tests.app.conftest import Service, StartService


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[GitServer]:
    root = tmp_path / "served"
    root.mkdir()
    with serving_git(root) as running:
        yield running


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder that the operator permits."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    return folder


@pytest.fixture
async def inside(start_service: StartService, shelf: Path) -> AsyncIterator[Service]:
    """A service that may read `shelf`, and reach addresses of this machine."""
    async with start_service(sync_private=True, sync_folders=str(shelf)) as running:
        yield running
