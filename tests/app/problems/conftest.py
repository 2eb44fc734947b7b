"""A service on each database."""

from collections.abc import AsyncIterator

import pytest

from app.database import Database
from tests.app.conftest import Service, StartService


@pytest.fixture
def database_url(empty_database: Database) -> str | None:
    """What a service is told to use it: nothing where that is the file in its own folder."""
    shared = empty_database.engine.dialect.name == "postgresql"
    return empty_database.engine.url.render_as_string(hide_password=False) if shared else None


@pytest.fixture
async def either(start_service: StartService, database_url: str | None) -> AsyncIterator[Service]:
    async with start_service(database_url=database_url) as running:
        yield running
