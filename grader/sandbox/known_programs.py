"""Remember what verifiers answered: a program that was compiled, and run on the same inputs, before is not again.

What a verifier answers follows from the frames that it got, from its limits and number of devices, and from the code of
the grader with its versions of JAX and XLA's options. So all of that is in the digest under which an answer is found.
The runs of a program are found under its digest and that of their inputs. Only successes are remembered, and only of
programs that XLA checks whole, not of those that call native kernels.
"""

import collections
import hashlib
import io
import threading
from collections.abc import Mapping

from grader.core import wire
from grader.core.wire import Frame, Message, Values

# A program of the shipped problems and all of its runs take 10 to 300 kB.
_MOST_BYTES = 32 << 20


class KnownPrograms:
    """Answers as bytes, by digest. The ones that were needed least recently go first. Threads may share one."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._answers: collections.OrderedDict[bytes, bytes] = collections.OrderedDict()
        self._lock = threading.Lock()

    def find(self, digest: bytes, *, most_bytes: int) -> Frame | None:
        """Return a new copy of the answer. None if there is none, or if its arrays have more than `most_bytes`."""
        with self._lock:
            answer = self._answers.get(digest)
            if answer is None:
                return None
            self._answers.move_to_end(digest)
        try:
            return wire.read_frame(io.BytesIO(answer), max_payload_bytes=most_bytes)
        except wire.TooLarge:
            return None

    def remember(self, digest: bytes, message: Message, values: Values) -> None:
        """Remember an answer, unless it would take a quarter of what all of them may."""
        try:
            answer = wire.pack(message, values)
        except wire.TooLarge:
            return
        if len(answer) > self._most_bytes // 4:
            return
        with self._lock:
            self._bytes += len(answer) - len(self._answers.pop(digest, b""))
            self._answers[digest] = answer
            while self._bytes > self._most_bytes:
                _, oldest = self._answers.popitem(last=False)
                self._bytes -= len(oldest)


def digest_of(before: bytes, message: Message, values: Mapping[str, object]) -> bytes:
    """The digest of a request that follows what `before` is the digest of."""
    return hashlib.sha256(before + wire.pack(message, dict(values))).digest()
