"""Wait for an attempt: the long poll and the event stream."""

import json
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict

from app.accounts.caller import User
from app.attempts.schemas import AttemptJSON
from app.attempts.service import Attempts, AttemptView
from app.queue.events import Change
from app.queue.status import ENDED
from app.queue.turns import QueuePlace

# Also how often the row is read again, in case another process graded the attempt.
_QUIET_S = 10.0
# How often a reader of the event stream is told anew where a queued attempt stands.
_PLACE_S = 3.0


async def wait_for_end(attempts: Attempts, user: User, attempt_id: str, timeout_s: float) -> AttemptView:
    """The attempt when it has ended, or as it is after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    with attempts.events.subscribe(attempt_id) as subscription:
        while True:
            left_s = deadline - time.monotonic()
            is_told = left_s <= 0 or subscription.closed
            view = await attempts.get(user, attempt_id, placed=is_told)
            if view.status in ENDED or is_told:
                return view
            change = await subscription.next(min(left_s, _QUIET_S))
            while change is not None and not change.is_last and (left_s := deadline - time.monotonic()) > 0:
                change = await subscription.next(min(left_s, _QUIET_S))


VERDICT_EVENT = "verdict"


async def event_stream(
    attempts: Attempts, user: User, attempt_id: str, last_event_id: str | None = None
) -> AsyncIterator[bytes]:
    """Server-sent events: `status` on every change, at last `verdict` with the whole attempt.

    An event's id says what it told, and not its number: so any process can go on where another one ended, and a reader
    who comes back with `last_event_id` is told what differs by now. Phases that came and went meanwhile are not.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    with attempts.events.subscribe(attempt_id) as subscription:
        view = await attempts.get(user, attempt_id)
        last = Change(view.status, view.phase)
        if _id(last) != last_event_id:
            yield _status_event(last, view.queue)
        while not last.is_last:
            change = await subscription.next(_PLACE_S if last.status == "queued" else _QUIET_S)
            if subscription.closed and change is None:
                return  # the service is stopping; the browser will ask again
            if change is None:
                yield b": still here\n\n"
                view = await attempts.get(user, attempt_id)
                change = Change(view.status, view.phase)
                if view.queue is not None:
                    yield _status_event(change, view.queue)
                if view.status not in ENDED:
                    continue
            if change != last:
                yield _status_event(change)
            last = change
        view = await attempts.get(user, attempt_id)
        yield _event("verdict", VERDICT_EVENT, AttemptJSON.of(view).model_dump_json())


def _status_event(change: Change, queue: QueuePlace | None = None) -> bytes:
    place = {} if queue is None else {"queue": asdict(queue)}
    return _event("status", _id(change), json.dumps({"status": change.status, "phase": change.phase, **place}))


def _id(change: Change) -> str:
    # A header carries it back, so nothing but ASCII; a phase may hold anything.
    said = f"{change.status}\n{change.phase}".encode("utf-8", "surrogatepass")
    return f"{change.status}-{zlib.crc32(said):08x}"


def _event(name: str, event_id: str, data: str) -> bytes:
    # JSON text holds no line end, so it is one `data:` line.
    return f"event: {name}\nid: {event_id}\ndata: {data}\n\n".encode()
