"""The loop of a runner and of a verifier: one request at a time, until the judge closes the descriptor."""

import io
import os
from collections.abc import Callable
from typing import Any

from grader.core import wire

# A request or its values. They come from the judge, so their form is not checked.
Fields = dict[str, Any]


def answer_requests(
    fd: int,
    hello: wire.Message,
    answer: Callable[[Fields, Fields], wire.Frame],
    *,
    max_payload_bytes: int,
) -> None:
    """Send `hello` on `fd`, then answer requests until it is closed.

    Args:
      answer: takes a request and its values, and returns the reply and its values.
    """
    channel = os.fdopen(fd, "r+b", buffering=0)
    _send(channel, hello, {})
    while True:
        try:
            request, values = wire.read_frame(channel, max_payload_bytes=max_payload_bytes)
        except EOFError:
            return
        _send(channel, *answer(request, values))


def refusal(reason: str, message: str, detail: wire.Message | None = None) -> wire.Message:
    """The reply to a request that failed because of a submission or a program."""
    return {"ok": False, "reason": reason, "message": message, "detail": detail or {}}


def _send(channel: io.RawIOBase, message: wire.Message, values: wire.Values) -> None:
    try:
        frame = wire.pack(message, values)
    except wire.TooLarge as error:
        frame = wire.pack(refusal("output_limit", str(error)))
    view = memoryview(frame)
    while view:
        view = view[channel.write(view) :]
