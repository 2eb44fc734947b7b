"""The parts of the service that work in the background."""

import asyncio

import pytest

from app.core.start_errors import SettingInvalid
from app.grading.queue.preparation import Preparer

pytestmark = pytest.mark.anyio


async def test_a_part_that_ends_unforeseen_is_told_at_once(start_service, monkeypatch, caplog):
    async def stumble(self, packages) -> None:
        raise ZeroDivisionError("a fault that nobody foresaw")

    monkeypatch.setattr(Preparer, "run", stumble)
    async with start_service() as service:
        await asyncio.sleep(0)
        assert (await service.http.get("/healthz")).status_code == 200
        (told,) = [record for record in caplog.records if "ended" in record.getMessage()]
        assert told.levelname == "CRITICAL"
        assert "Preparer" in told.getMessage() or "stumble" in told.getMessage()
        assert told.exc_info[0] is ZeroDivisionError


async def test_a_folder_without_problems_does_not_empty_a_service(start_service, tmp_path):
    (tmp_path / "empty").mkdir()
    # A service that had none starts on it.
    async with start_service(problems=tmp_path / "empty"):
        pass
    async with start_service():
        pass
    with pytest.raises(SettingInvalid, match="has no problem that can be served, and this service had 1") as refused:
        async with start_service(problems=tmp_path / "empty"):
            pass
    assert str(tmp_path / "empty") in str(refused.value)
    async with start_service() as service:
        assert len((await service.http.get("/api/v1/problems")).json()["problems"]) == 1
