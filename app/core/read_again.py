"""A value that is expensive to read, and that may be a little old."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class ReadAgain(Generic[T]):
    """Reads at most once in `pause_s`, however many requests there are. Safe to share between them.

    Only the first value is waited for: a request that arrives during a later reading gets the old value.
    """

    def __init__(self, read: Callable[[], Awaitable[T]], pause_s: float) -> None:
        self._read = read
        self._pause_s = pause_s
        self._read_at = -math.inf
        self._found: list[T] = []
        self._reading = asyncio.Lock()

    async def get(self) -> T:
        if self._is_due() and not (self._found and self._reading.locked()):
            async with self._reading:
                if self._is_due():
                    self._found = [await self._read()]
                    self._read_at = time.monotonic()
        return self._found[0]

    def _is_due(self) -> bool:
        return time.monotonic() - self._read_at >= self._pause_s
