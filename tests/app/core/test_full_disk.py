"""On a full disk, requests that store something are refused, pages still work, and a finished grading waits."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from app.core.database import Database
from app.grading.queue.null_grader import NullGrader
from grader.verdicts.verdict import Verdict
from tests.app.conftest import FILES, Service, StartService

pytestmark = pytest.mark.anyio
URL = "/api/v1/problems/add_one/attempts"
_MOST_PAGES = 0xFFFFFFFE
# Longer than what is free in the pages that the database has.
REFERENCE = FILES["reference.py"]
SOURCE = "def add_one(x):\n    return x + 1\n" + "# a comment\n" * 5000


@contextmanager
def full_disk(service: Service) -> Iterator[None]:
    """SQLite may use no more pages than the database has now, which it reports like a disk without room."""
    pool = service.services[Database].engine.sync_engine.pool
    most = 1

    def limit(connection: Any, record: object, proxy: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA max_page_count = {most}")
        cursor.close()

    event.listen(pool, "checkout", limit)
    try:
        yield
    finally:
        most = _MOST_PAGES


async def test_what_cannot_be_stored_is_refused_and_can_be_sent_again(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    with full_disk(service):
        refused = await service.http.post(URL, json={"source": SOURCE}, headers=service.bearer)
        assert (refused.status_code, refused.json()["slug"]) == (503, "database-busy")
        assert "Nothing was stored" in refused.json()["detail"]
        assert refused.headers["retry-after"]
        assert "the disk is full" in caplog.text
        assert (await service.http.get("/problems/add_one", headers=service.bearer)).status_code == 200
        listed = await service.http.get("/api/v1/attempts", headers=service.bearer)
        assert listed.json()["attempts"] == []
    taken = await service.http.post(f"{URL}?wait=60", json={"source": SOURCE}, headers=service.bearer)
    assert taken.json()["status"] == "finished"


async def test_a_verdict_waits_until_there_is_room(
    start_service: StartService, caplog: pytest.LogCaptureFixture
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Long(NullGrader):
        def judge(self, *arguments: Any, **options: Any) -> Verdict:
            begun.set()
            assert go_on.wait(60)
            verdict = super().judge(*arguments, **options)
            checks = [each.model_copy(update={"message": SOURCE}) for each in verdict.checks]
            return verdict.model_copy(update={"checks": checks})

    async with start_service(Long()) as service:
        sent = await service.http.post(URL, json={"source": REFERENCE}, headers=service.bearer)
        attempt = f"/api/v1/attempts/{sent.json()['id']}"
        await asyncio.to_thread(begun.wait, 60)
        with full_disk(service):
            go_on.set()
            async with asyncio.timeout(60):
                while "trying again" not in caplog.text:
                    await asyncio.sleep(0.01)
            waiting = await service.http.get(attempt, headers=service.bearer)
            assert waiting.json()["status"] == "running"
        graded = await service.http.get(f"{attempt}?wait=60", headers=service.bearer)
        assert graded.json()["verdict"]["status"] == "accepted"
        assert graded.json()["verdict"]["checks"][0]["message"] == SOURCE
