"""Notifies everyone in this process who waits for an attempt, or for other work of the judge, of its changes."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.core.background_loop import Loop
from app.core.errors import TooManyFollowed
from app.grading.queue.status import ENDED, AttemptStatus

# Each one that is open keeps a connection. A browser has six to one server.
FOLLOWED_AT_MOST = 32
# A slow reader loses the oldest phases, but never the end, which comes last.
_MAX_CHANGES = 64


@dataclass(frozen=True, slots=True)
class Change:
    """The work is `partial` if it is running, and a part of its result is stored."""

    status: AttemptStatus
    phase: str | None
    partial: bool = False

    @property
    def is_last(self) -> bool:
        return self.status in ENDED


class Subscription:
    """The changes of one piece of work since the subscription began, in order."""

    def __init__(self) -> None:
        self._changes: deque[Change] = deque(maxlen=_MAX_CHANGES)
        self._news = asyncio.Event()
        self.closed = False

    def put(self, change: Change) -> None:
        self._changes.append(change)
        self._news.set()

    def close(self) -> None:
        self.closed = True
        self._news.set()

    async def next(self, timeout_s: float) -> Change | None:
        """The next change; `None` if there was none in time or the service is stopping (`closed`)."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self._changes and not self.closed:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return None
        return self._changes.popleft() if self._changes else None


class WorkEvents:
    """Belongs to one event loop: publish and subscribe only from there."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[Subscription]] = {}
        # Not every phase is stored, so a late subscriber gets the latest one of running work from here.
        self._running: dict[str, Change] = {}
        self._watchers: list[Callable[[str, Change], None]] = []
        self._watchers_here: list[Callable[[str, Change], None]] = []
        self._closed = False
        # How many subscriptions each person has.
        self._followed: Counter[str] = Counter()
        # Loops that exchange changes with other processes; none here, because this class serves one process.
        self.loops: list[Loop] = []

    def watch(self, watcher: Callable[[str, Change], None]) -> None:
        """Call this with every change of everything from now on."""
        self._watchers.append(watcher)

    def watch_here(self, watcher: Callable[[str, Change], None]) -> None:
        """Call this with every change of an attempt that this process makes, before anyone else receives it."""
        self._watchers_here.append(watcher)

    def publish(self, attempt_id: str, change: Change) -> None:
        """This process has changed the attempt: notify everyone."""
        self.note(attempt_id, change)
        self.send(attempt_id, change)

    def note(self, attempt_id: str, change: Change) -> None:
        """This process has created the attempt, so nobody can wait for it yet."""
        for watcher in self._watchers_here:
            watcher(attempt_id, change)

    def send(self, work_id: str, change: Change) -> None:
        """This process has changed an attempt or other work: notify everyone who waits for it, and all watchers."""
        self.deliver(work_id, change)

    def deliver(self, work_id: str, change: Change) -> None:
        """Notify everyone who waits in this process, whichever process made the change."""
        for watcher in self._watchers:
            watcher(work_id, change)
        if change.status == "running":
            self._running[work_id] = change
        else:
            self._running.pop(work_id, None)
        for subscription in self._subscriptions.get(work_id, ()):
            subscription.put(change)

    def forget(self) -> None:
        """Drop the latest changes of running work, because they may be out of date."""
        self._running.clear()

    @property
    def waited_for(self) -> Collection[str]:
        """The work that somebody waits for in this process."""
        return self._subscriptions.keys()

    def refuse_more(self, person: str) -> None:
        """Raises `TooManyFollowed` if this person may have no further subscription in this process."""
        if self._followed[person] >= FOLLOWED_AT_MOST:
            raise TooManyFollowed(
                f"You wait for {FOLLOWED_AT_MOST} attempts or other work at once, which is the maximum. End one of "
                "these requests, or ask now and then instead, without ?wait= or /events.",
                headers={"Retry-After": "5"},
            )

    @contextmanager
    def subscribe(self, work_id: str, person: str) -> Iterator[Subscription]:
        """Subscribe first and read the row second, or you miss a change in between.

        Args:
          person: who waits.
        Raises:
          TooManyFollowed: they have as many subscriptions as they may.
        """
        self.refuse_more(person)
        subscription = Subscription()
        self._followed[person] += 1
        if self._closed:
            subscription.close()
        elif work_id in self._running:
            subscription.put(self._running[work_id])
        self._subscriptions.setdefault(work_id, set()).add(subscription)
        try:
            yield subscription
        finally:
            self._followed[person] -= 1
            if not self._followed[person]:
                del self._followed[person]
            self._subscriptions[work_id].discard(subscription)
            if not self._subscriptions[work_id]:
                del self._subscriptions[work_id]

    def close(self) -> None:
        """End every wait, so that open event streams do not delay the end of the service."""
        self._closed = True
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.close()
