"""A background loop runs until it is cancelled. It pauses only after a step that fails or finds no work."""

import asyncio

import pytest

from app.core.background_loop import Loop

pytestmark = pytest.mark.anyio


async def test_a_loop_pauses_when_it_finds_nothing_and_when_a_step_fails(monkeypatch, caplog):
    left, pauses = [2, 1, 0, ZeroDivisionError("busy"), 1], []

    async def step() -> int:
        if not left:
            await asyncio.Event().wait()
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def pause(seconds: float) -> None:
        pauses.append((seconds, len(left)))

    monkeypatch.setattr("app.core.background_loop.sleep", pause)
    task = asyncio.create_task(Loop("counting", step, pause_s=7.0).run())
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert pauses == [(7.0, 2), (7.0, 1)]
    assert "counting failed; trying again in 7 s" in caplog.text
