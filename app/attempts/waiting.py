"""Wait for an attempt: the long poll and the event stream."""

import json
import time
from collections.abc import AsyncIterator

from app.accounts.caller import User
from app.attempts.schemas import AttemptJSON
from app.attempts.service import Attempts, AttemptView
from app.attempts.status import ENDED
from app.queue.events import Change

# Also how often the row is read again, in case another process graded the attempt.
_QUIET_S = 10.0


async def wait_for_end(attempts: Attempts, user: User, attempt_id: str, timeout_s: float) -> AttemptView:
    """The attempt when it has ended, or as it is after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    with attempts.events.subscribe(attempt_id) as subscription:
        while True:
            view = await attempts.get(user, attempt_id)
            left_s = deadline - time.monotonic()
            if view.status in ENDED or left_s <= 0 or subscription.closed:
                return view
            change = await subscription.next(min(left_s, _QUIET_S))
            while change is not None and not change.is_last and (left_s := deadline - time.monotonic()) > 0:
                change = await subscription.next(min(left_s, _QUIET_S))


async def event_stream(attempts: Attempts, user: User, attempt_id: str) -> AsyncIterator[bytes]:
    """Server-sent events: `status` on every change, at last `verdict` with the whole attempt.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    with attempts.events.subscribe(attempt_id) as subscription:
        view = await attempts.get(user, attempt_id)
        last = Change(view.status, view.phase)
        yield _status_event(last)
        while not last.is_last:
            change = await subscription.next(_QUIET_S)
            if subscription.closed and change is None:
                return  # the service is stopping; the browser will ask again
            if change is None:
                yield b": still here\n\n"
                view = await attempts.get(user, attempt_id)
                change = Change(view.status, view.phase)
                if view.status not in ENDED:
                    continue
            if change != last:
                yield _status_event(change)
            last = change
        view = await attempts.get(user, attempt_id)
        yield _event("verdict", AttemptJSON.of(view).model_dump_json())


def _status_event(change: Change) -> bytes:
    return _event("status", json.dumps({"status": change.status, "phase": change.phase}))


def _event(name: str, data: str) -> bytes:
    # JSON text holds no line end, so it is one `data:` line.
    return f"event: {name}\ndata: {data}\n\n".encode()
