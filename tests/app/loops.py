"""Change the background loops of services that a test starts afterwards."""

import asyncio

from app.core.background_loop import Loop


def quicken(monkeypatch, times: int = 100) -> None:
    """Shorten every loop's pause to a hundredth, or to another part."""
    monkeypatch.setattr("app.core.background_loop.sleep", lambda seconds: asyncio.sleep(seconds / times))


def hold(monkeypatch, name: str) -> None:
    """Make the loop with this name do nothing."""
    run = Loop.run
    monkeypatch.setattr(Loop, "run", lambda loop: asyncio.Event().wait() if loop.name == name else run(loop))
