"""Change the background loops of services that a test starts afterwards."""

import asyncio

from app.core.background_loop import Loop


def quicken(monkeypatch) -> None:
    """Shorten every loop's pause to a hundredth."""
    monkeypatch.setattr("app.core.background_loop.sleep", lambda seconds: asyncio.sleep(seconds / 100))


def hold(monkeypatch, name: str) -> None:
    """Make the loop with this name do nothing."""
    run = Loop.run
    monkeypatch.setattr(Loop, "run", lambda loop: asyncio.Event().wait() if loop.name == name else run(loop))
