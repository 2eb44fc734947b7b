"""A value that is expensive to read, and that may be a little old."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from app.core.ids import new_id

T = TypeVar("T")


class ReadAgain(Generic[T]):
    """Reads at most once in `pause_s`, however many requests there are. Safe to share between them.

    Only the first value is waited for: a request that arrives during a later reading gets the old value. As long as it
    is equal, it is the same object, and `seen` stays the same.
    """

    def __init__(self, read: Callable[[], Awaitable[T]], pause_s: float) -> None:
        self._read = read
        self._pause_s = pause_s
        self._read_at = -math.inf
        self._found: list[T] = []
        self._reading = asyncio.Lock()
        self.seen = new_id()

    async def get(self) -> T:
        if self._is_due() and not (self._found and self._reading.locked()):
            async with self._reading:
                if self._is_due():
                    found = [await self._read()]
                    if found != self._found:
                        self._found, self.seen = found, new_id()
                    self._read_at = time.monotonic()
        return self._found[0]

    def _is_due(self) -> bool:
        return time.monotonic() - self._read_at >= self._pause_s
