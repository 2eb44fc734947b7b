"""Capture a runner's output: keep a bounded part, and count and drop the rest."""

import math
import time
from typing import ClassVar, Literal

from grader.sandbox.protocol import Output

KEPT_BYTES = 16 << 10
_TAIL_BYTES = 4 << 10


class Capture:
    """Keeps the first 16 KiB of each stream until it is sealed."""

    FLOOD_BYTES: ClassVar[int] = 64 << 20
    # Small prints can use up a submission's time before they are a flood. A program that still works and prints its
    # progress stays far below this.
    ENDLESS_BYTES: ClassVar[int] = 1 << 20
    _RECENT_S: ClassVar[float] = 1.0

    def __init__(self) -> None:
        self._kept = {"stdout": bytearray(), "stderr": bytearray()}
        self._tail = b""
        self.seen_bytes = 0
        self._seen_at = -math.inf
        self._cut = False
        self._sealed = False

    @property
    def is_flood(self) -> bool:
        return self.seen_bytes > self.FLOOD_BYTES

    @property
    def is_growing(self) -> bool:
        """Whether something was printed in the last second."""
        return time.monotonic() - self._seen_at < self._RECENT_S

    @property
    def is_endless(self) -> bool:
        """Whether this is most likely the output of a loop that prints without end."""
        return self.is_growing and self.seen_bytes > self.ENDLESS_BYTES

    def add(self, stream: Literal["stdout", "stderr"], text: bytes) -> None:
        self.seen_bytes += len(text)
        self._seen_at = time.monotonic() if text else self._seen_at
        if stream == "stderr":
            self._tail = (self._tail + text)[-_TAIL_BYTES:]
        if self._sealed:
            return
        room = KEPT_BYTES - len(self._kept[stream])
        self._kept[stream] += text[:room]
        self._cut = self._cut or len(text) > room

    def clear(self) -> None:
        """Drop the output so far, which JAX printed before there was a submission."""
        self.__init__()  # type: ignore[misc]

    def seal(self) -> None:
        self._sealed = True

    def tail(self) -> str:
        """The end of stderr, sealed or not. It is for the judge alone: never show it."""
        return self._tail.decode(errors="replace")

    def output(self) -> Output:
        mark = "\n… (cut: more was printed than is kept)"
        texts = {name: bytes(kept).decode(errors="replace") for name, kept in self._kept.items()}
        marked = {
            name: text + mark if len(self._kept[name]) >= KEPT_BYTES and self._cut else text
            for name, text in texts.items()
        }
        return Output(marked["stdout"], marked["stderr"], self._cut)
