"""Work in the background: steps that a process repeats as long as it lives."""

import asyncio
import logging
from asyncio import sleep
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

log = logging.getLogger(__name__)


def raise_if_cancelled() -> None:
    """Raise `CancelledError` if this task has been cancelled. A task that survives errors calls it after each of them.

    A library can replace the cancellation by an error of its own. If psycopg is cancelled while it waits for an answer,
    it first reads the rest of that answer, and raises whatever error this causes, such as a lost connection. Without
    this call, the task would go on for good, and the task that cancelled it would wait for good.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


@dataclass(eq=False, slots=True)
class Loop:
    """A step that is repeated: immediately after it found something to do, and otherwise after a pause.

    A step that fails is logged and repeated after the pause, because a busy database must not end the work for good.

    Args:
      name: what the step does, for the log.
      step: returns how much it did, or whether there may be more to do.
      pause_s: how long it rests, at least.
      end: called when the loop is cancelled, to end what the step has left running.
      idle_pause_s: while it finds nothing, each pause is twice as long as the one before, up to this many seconds;
        after `hurry`, it begins with `pause_s` again. By default, all pauses are alike.
    """

    name: str
    step: Callable[[], Awaitable[int | None]]
    pause_s: float = 2.0
    idle_pause_s: float = 0.0
    end: Callable[[], Awaitable[None]] | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def hurry(self) -> None:
        """Something happened that may have made work for this loop."""
        self._news.set()

    async def run(self) -> None:
        """Repeat the step until cancelled."""
        try:
            await self._repeat()
        finally:
            if self.end is not None:
                await self.end()

    async def _repeat(self) -> None:
        pause_s = self.pause_s
        while True:
            try:
                done = await self.step()
            except Exception:
                raise_if_cancelled()
                log.exception("%s failed; trying again in %g s", self.name, self.pause_s)
                done, pause_s = 0, self.pause_s
            raise_if_cancelled()
            pause_s = self.pause_s if done else await self._rest(pause_s)

    async def _rest(self, pause_s: float) -> float:
        """Rest, and return how long to rest the next time."""
        # However much happens, the step is not repeated sooner.
        await sleep(self.pause_s)
        if pause_s > self.pause_s and not self._news.is_set():
            await self._wait_for_news(pause_s - self.pause_s)
        if self._news.is_set():
            self._news.clear()
            return self.pause_s
        return max(self.pause_s, min(2 * pause_s, self.idle_pause_s))

    async def _wait_for_news(self, seconds: float) -> None:
        waits = [asyncio.ensure_future(sleep(seconds)), asyncio.ensure_future(self._news.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()


class Activity:
    """Tells loops that rest while the service is idle that something has happened. Belongs to one event loop."""

    def __init__(self) -> None:
        self._loops: tuple[Loop, ...] = ()

    def watch(self, *loops: Loop) -> None:
        """From now on, make these hurry, and only these."""
        self._loops = loops

    def note(self) -> None:
        """A request may have changed something, or an attempt has ended."""
        for each in self._loops:
            each.hurry()
