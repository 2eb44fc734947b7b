"""A service on each database, with a learning platform that is registered in it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.app.accounts.oidc_provider import serve
from tests.app.accounts.people import SITE, sign_in
from tests.app.conftest import Service
from tests.app.loops import quicken
from tests.app.teaching.lti.platform import LearningPlatform


@pytest.fixture(scope="session")
def running_platform() -> Iterator[LearningPlatform]:
    """A platform for the whole session, because its keys take long to generate."""
    platform = LearningPlatform()
    with serve(platform.app) as address:
        platform.address = address
        yield platform


@pytest.fixture
def platform(running_platform: LearningPlatform) -> LearningPlatform:
    running_platform.be_honest()
    return running_platform


@pytest.fixture
async def school(start_service, database_url, platform, monkeypatch) -> AsyncIterator[Service]:
    quicken(monkeypatch)
    monkeypatch.setattr("app.teaching.lti.scores.PAUSES_S", (0.01, 0.01))
    async with start_service(database_url=database_url, lti_private=True) as service:
        await sign_in(service)
        answer = await service.http.post("/api/v1/lti/platforms", json=platform.registration, headers=SITE)
        assert answer.status_code == 201, answer.text
        platform.tool_keys = (await service.http.get("/lti/jwks.json")).json()
        yield service
