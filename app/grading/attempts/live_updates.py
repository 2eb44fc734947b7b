"""Waits for an attempt: the long poll and the event stream."""

import json
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict

from app.accounts.caller import User
from app.core.errors import TooManyFollowed
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.events import Change
from app.grading.queue.status import ENDED, QueuePlace

# Also the interval at which the row is read again, in case another process graded the attempt.
_QUIET_S = 10.0
# How often the event stream sends the place of a queued attempt.
_PLACE_S = 3.0


def person(user: User) -> str:
    """Who waits: an account, or the browser of a guest."""
    return user.id if user.guest is None else user.guest.browser


async def wait_for_end(attempts: Attempts, user: User, attempt_id: str, timeout_s: float) -> AttemptJSON:
    """The attempt once it has ended, or as it is after `timeout_s`.

    Raises:
      TooManyFollowed: with a timeout, if the user waits for too many attempts already.
    """
    if timeout_s <= 0:
        return await attempts.get(user, attempt_id, placed=True)
    deadline = time.monotonic() + timeout_s
    with attempts.events.subscribe(attempt_id, person(user)) as subscription:
        while True:
            left_s = deadline - time.monotonic()
            is_over = left_s <= 0 or subscription.closed
            view = await attempts.get(user, attempt_id, placed=is_over)
            if view.status in ENDED or is_over:
                return view
            change = await subscription.next(min(left_s, _QUIET_S))
            while change is not None and not change.is_last and (left_s := deadline - time.monotonic()) > 0:
                change = await subscription.next(min(left_s, _QUIET_S))


VERDICT_EVENT = "verdict"


async def event_stream(
    attempts: Attempts, user: User, attempt_id: str, last_event_id: str | None = None
) -> AsyncIterator[bytes]:
    """Server-sent events: `status` on every change, and finally `verdict` with the whole attempt.

    The id of an event names its content, not its number. So any process can continue where another one stopped, and a
    client that returns with `last_event_id` receives what has changed since, but no phase that has already passed.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    try:
        attempts.events.refuse_more(person(user))
    except TooManyFollowed:
        return  # others were opened since this one was admitted; the browser will try again
    with attempts.events.subscribe(attempt_id, person(user)) as subscription:
        view = await attempts.get(user, attempt_id)
        last = Change(view.status, view.phase)
        if _id(last) != last_event_id:
            yield _status_event(last, view.queue)
        while not last.is_last:
            change = await subscription.next(_PLACE_S if last.status == "queued" else _QUIET_S)
            if subscription.closed and change is None:
                return  # the service is stopping; the browser will reconnect
            if change is None:
                yield b": still here\n\n"
                view = await attempts.get(user, attempt_id)
                change = Change(view.status, view.phase)
                if view.queue is not None:
                    yield _status_event(change, view.queue)
                if view.status not in ENDED:
                    continue
            change = _seen(change, view)
            if change != last:
                yield _status_event(change)
            last = change
        view = await attempts.get(user, attempt_id)
        yield _event("verdict", VERDICT_EVENT, view.model_dump_json())


def _seen(change: Change, view: AttemptJSON) -> Change:
    """The change as the reader of this view may see it."""
    if view.withheld_until is None:
        return change
    seen = view.model_copy(update=asdict(change)).withheld(view.withheld_until)
    return Change(seen.status, seen.phase)


def _status_event(change: Change, queue: QueuePlace | None = None) -> bytes:
    place = {} if queue is None else {"queue": queue.model_dump()}
    return _event("status", _id(change), json.dumps({"status": change.status, "phase": change.phase, **place}))


def _id(change: Change) -> str:
    # It returns in a header, so it must be ASCII. A phase may contain any character.
    content = f"{change.status}\n{change.phase}".encode("utf-8", "surrogatepass")
    return f"{change.status}-{zlib.crc32(content):08x}"


def _event(name: str, event_id: str, data: str) -> bytes:
    # JSON text contains no line end, so it is one `data:` line.
    return f"event: {name}\nid: {event_id}\ndata: {data}\n\n".encode()
