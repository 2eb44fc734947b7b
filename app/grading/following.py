"""Follows work of the judge: the long poll and the event stream, for attempts and for other work."""

import json
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from fastapi import Header, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from app.accounts.caller import User
from app.core.errors import Refused, TooManyFollowed
from app.grading.owned_work import UsersJobs
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.status import ENDED, AttemptStatus, Glance, QueuePlace

# How long a stream says nothing: clients and proxies give up after 25 s and more. As often, each of those who wait
# looks whether a change was missed, such as a deletion.
_QUIET_S = 15.0
# How often the event stream looks for another place of a queued attempt.
_PLACE_S = 3.0
Wait = Annotated[float | None, Query(ge=0, le=60, allow_inf_nan=False, description="Seconds to wait for its end")]
LastEventId = Annotated[
    str | None,
    Header(
        max_length=100,
        description="The id of the last event before the connection was lost. That event is not sent again.",
    ),
]


class StatusEventJSON(BaseModel):
    """A server-sent event. `data` is JSON text: `{"status", "phase"}`. The last one says that the work has ended.

    Once an exploration has a `partial_result`, `data` also has `"partial": true`.
    """

    event: Literal["status"]
    id: str
    data: str


def stream_responses(schema: type[BaseModel], example: str) -> dict[int | str, dict[str, Any]]:
    """What the documentation says about a stream of these events."""
    content = {"text/event-stream": {"schema": schema.model_json_schema(), "example": example}}
    return {
        200: {"description": "`status` on every change; the last event ends the stream", "content": content},
        204: {"description": "The client has already received the last event"},
    }


# For routes of work whose last event says that it has ended.
STATUS_EVENTS: dict[str, Any] = {
    "response_class": StreamingResponse,
    "responses": stream_responses(
        StatusEventJSON,
        'event: status\nid: running-9a0e5c11\ndata: {"status": "running", "phase": "compiling"}\n\n'
        'event: status\nid: finished-5d41402a\ndata: {"status": "finished", "phase": null}\n\n',
    ),
}


class Seen(Protocol):
    """Work as somebody sees it."""

    @property
    def status(self) -> AttemptStatus: ...

    @property
    def phase(self) -> str | None: ...


S = TypeVar("S", bound=Seen)


@dataclass(frozen=True, slots=True)
class Followed(Generic[S]):
    """Work that one person waits for.

    Attributes:
      read: returns it as it is now. Without True, its place in the queue may be left out.
      glance: returns its status and place without reading what else it has; None if it was deleted. Without this, it is
        read as a whole.
      place_of: returns its place in the queue, if its view has one.
      shown: returns a change as the reader of the view may see it.
      last: the name of its last event, and what returns the data. Without it, the change that ends the work is last.
    """

    events: WorkEvents
    person: str
    work_id: str
    read: Callable[[bool], Awaitable[S]]
    glance: Callable[[], Awaitable[Glance | None]] | None = None
    place_of: Callable[[S], QueuePlace | None] = lambda _: None
    shown: Callable[[Change, S], Change] = lambda change, _: change
    last: tuple[str, Callable[[S], str]] | None = None


def person(user: User) -> str:
    """Who waits: an account, or the browser of a guest."""
    return user.id if user.guest is None else user.guest.browser


def followed_job(jobs: UsersJobs[Any, S], user: User, work_id: str) -> Followed[S]:
    """Work of the user that is deleted with its row."""
    return Followed(jobs.events, person(user), work_id, read=lambda _: jobs.get(user, work_id))


async def wait_for_end(followed: Followed[S], timeout_s: float) -> S:
    """The work once it has ended, or as it is after `timeout_s`.

    Raises:
      TooManyFollowed: with a timeout, if the user waits for too much already.
    """
    if timeout_s <= 0:
        return await followed.read(True)
    deadline = time.monotonic() + timeout_s
    with followed.events.subscribe(followed.work_id, followed.person) as subscription:
        view = await followed.read(False)
        while view.status not in ENDED:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or subscription.closed:
                return await followed.read(True)
            change = await subscription.next(min(left_s, _QUIET_S))
            if change is not None:
                is_new = change.is_last
            else:
                is_new = left_s > _QUIET_S and not subscription.closed and await _glance(followed, view.status) is None
            if is_new:
                view = await followed.read(False)
        return view


async def _glance(followed: Followed[Any], status: AttemptStatus) -> Glance | None:
    """Return what a glance shows; None if it has another status than this one by now, or has to be read as a whole."""
    glance = None if followed.glance is None else await followed.glance()
    return glance if glance is not None and glance.status == status else None


async def event_response(followed: Followed[S], last_event_id: str | None) -> Response:
    """The response that streams the events of this work, or 204 if the client has received the last one.

    Raises what `read` raises, and `TooManyFollowed`, while a status code can still be sent.
    """
    view = await followed.read(True)
    if view.status in ENDED and last_event_id is not None and last_event_id == _last_id(followed, view):
        return Response(status_code=204)  # a browser then stops reconnecting
    followed.events.refuse_more(followed.person)
    return StreamingResponse(
        event_stream(followed, last_event_id),
        media_type="text/event-stream",
        # Without X-Accel-Buffering, nginx delays events until its buffer is full.
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def event_stream(followed: Followed[S], last_event_id: str | None = None) -> AsyncIterator[bytes]:
    """Server-sent events: `status` on every change, and finally the last event, if this work has one.

    The id of an event names its content, not its number. So any process can continue where another one stopped, and a
    client that returns with `last_event_id` receives what has changed since, but no phase that has already passed.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    try:
        followed.events.refuse_more(followed.person)
    except TooManyFollowed:
        return  # others were opened since this one was admitted; the browser will try again
    with followed.events.subscribe(followed.work_id, followed.person) as subscription:
        view = await followed.read(True)
        last, place, said_at = _change_in(view), followed.place_of(view), time.monotonic()
        if _id(last) != last_event_id:
            yield _status_event(last, place)
        while not last.is_last:
            is_placed = followed.glance is not None and last.status == "queued"
            change = await subscription.next(_PLACE_S if is_placed else _QUIET_S)
            if subscription.closed and change is None:
                return  # the service is stopping; the browser will reconnect
            if change is None and (glance := await _glance(followed, last.status)) is not None:
                if news := _news(last, glance, place, time.monotonic() - said_at):
                    yield news
                    place, said_at = glance.place, time.monotonic()
                continue
            if change is None:
                yield b": still here\n\n"
                try:
                    view = await followed.read(True)
                except Refused:
                    # It was deleted while nobody heard of it.
                    yield _status_event(Change("cancelled", None))
                    return
                said_at = time.monotonic()
                if view.status == last.status:
                    continue
                change = _change_in(view)
            change = followed.shown(change, view)
            if change != last:
                yield _status_event(change)
            last, said_at = change, time.monotonic()
        if followed.last is not None:
            name, data_of = followed.last
            yield _event(name, name, data_of(await followed.read(True)))


def _news(last: Change, glance: Glance, place: QueuePlace | None, quiet_s: float) -> bytes:
    """What is new in a glance; empty if nothing is, and the last message is recent."""
    if glance.place is not None and glance.place != place:
        return _status_event(last, glance.place)
    # Otherwise the connection would look dead.
    return b"" if quiet_s < _QUIET_S - _PLACE_S else b": still here\n\n"


def _change_in(view: Seen) -> Change:
    return Change(view.status, view.phase or None)


def _last_id(followed: Followed[Any], view: Seen) -> str:
    return _id(_change_in(view)) if followed.last is None else followed.last[0]


def _status_event(change: Change, queue: QueuePlace | None = None) -> bytes:
    more: dict[str, object] = {} if queue is None else {"queue": queue.model_dump()}
    if change.partial:
        more["partial"] = True
    return _event("status", _id(change), json.dumps({"status": change.status, "phase": change.phase, **more}))


def _id(change: Change) -> str:
    # It returns in a header, so it must be ASCII. A phase may contain any character.
    marks = "\npartial" if change.partial else ""
    content = f"{change.status}\n{change.phase}{marks}".encode("utf-8", "surrogatepass")
    return f"{change.status}-{zlib.crc32(content):08x}"


def _event(name: str, event_id: str, data: str) -> bytes:
    # JSON text contains no line end, so it is one `data:` line.
    return f"event: {name}\nid: {event_id}\ndata: {data}\n\n".encode()
