"""A receiver of webhooks for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.app.webhooks.receiver import Receiver, receiving


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as running:
        yield running
