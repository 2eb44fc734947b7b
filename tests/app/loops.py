"""The loops of a service in the background, as a test wants them. Both are for services that start afterwards."""

import asyncio

from app.background import Loop


def quicken(monkeypatch) -> None:
    """Let every loop pause for a hundredth of its time."""
    monkeypatch.setattr("app.background.sleep", lambda seconds: asyncio.sleep(seconds / 100))


def hold(monkeypatch, name: str) -> None:
    """Let the loop with this name do nothing."""
    run = Loop.run
    monkeypatch.setattr(Loop, "run", lambda loop: asyncio.Event().wait() if loop.name == name else run(loop))
