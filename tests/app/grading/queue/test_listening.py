"""A worker on PostgreSQL listens for work until it is cancelled."""

import asyncio

import pytest
from procrastinate import PsycopgConnector
from psycopg import OperationalError

from app.grading.queue.procrastinate_queue import _Connector

pytestmark = pytest.mark.anyio


async def test_it_ends_although_its_cancellation_becomes_an_error_of_the_connection(monkeypatch):
    began = asyncio.Event()

    async def listen(self, on_notification, channels):
        try:
            began.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise OperationalError("the connection is lost") from None

    monkeypatch.setattr(PsycopgConnector, "listen_notify", listen)
    task = asyncio.create_task(_Connector(conninfo="").listen_notify(lambda **_: None, ["work"]))
    await asyncio.wait_for(began.wait(), 60)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=60)
    assert done
    assert task.cancelled()
