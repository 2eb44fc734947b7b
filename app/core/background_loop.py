"""Work in the background: steps that a process repeats as long as it lives."""

import logging
from asyncio import sleep
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loop:
    """A step that is repeated: immediately after it found something to do, and otherwise after a pause.

    A step that fails is logged and repeated after the pause, because a busy database must not end the work for good.

    Args:
      name: what the step does, for the log.
      step: returns how much it did, or whether there may be more to do.
    """

    name: str
    step: Callable[[], Awaitable[int | None]]
    pause_s: float = 2.0

    async def run(self) -> None:
        """Repeat the step until cancelled."""
        while True:
            try:
                done = await self.step()
            except Exception:
                log.exception("%s failed; trying again in %g s", self.name, self.pause_s)
                done = 0
            if not done:
                await sleep(self.pause_s)
