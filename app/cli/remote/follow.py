"""Follow an attempt to its end, whatever happens to the connection."""

from collections.abc import Callable

from pydantic import ValidationError

from app.cli.remote.answers import Attempt, AttemptState
from app.cli.remote.events import Event
from app.cli.remote.server import Server
from app.web.terminal import plain_text

_POLL_S = 20
# A proxy that swallows events swallows all of them: after two empty streams the attempt is only asked for.
_EMPTY_STREAMS = 2


def follow(server: Server, attempt: Attempt, tell: Callable[[str], None]) -> Attempt:
    """The attempt when it has ended.

    Events are the quick way. Each time their stream ends early, the attempt is asked for with a long poll, which is
    the slow way and at the same time the pause before the next stream.

    Args:
      tell: gets the state whenever it changes.
    Raises:
      ServerUnusable: the server stayed away for too long; the attempt goes on there.
    """
    last_event_id: str | None = None
    empty_streams = 0
    while not attempt.ended:
        tell(_state(attempt))
        if empty_streams < _EMPTY_STREAMS:
            empty_streams += 1
            for event in server.events(attempt.id, last_event_id):
                empty_streams = 0
                last_event_id = event.id or last_event_id
                if (told := _attempt_in(event, attempt)) is not None:
                    attempt = told
                    tell(_state(attempt))
        if not attempt.ended or attempt.verdict is None:
            attempt = server.attempt(attempt.id, wait_s=_POLL_S)
    return attempt


def _attempt_in(event: Event, attempt: Attempt) -> Attempt | None:
    """What an event says. One that cannot be read is passed over: the attempt is asked for in the end."""
    try:
        if event.name == "verdict":
            return Attempt.model_validate_json(event.data)
        if event.name == "status":
            status = AttemptState.model_validate_json(event.data)
            return attempt.model_copy(update={"status": status.status, "phase": status.phase, "queue": status.queue})
    except ValidationError:
        return None
    return None


def _state(attempt: Attempt) -> str:
    if attempt.status == "queued":
        if attempt.queue is None or not attempt.queue.ahead:
            return "waiting for a free worker"
        wait_s = attempt.queue.expected_wait_s
        return f"waiting: {attempt.queue.ahead} ahead of you" + ("" if wait_s is None else f", about {wait_s} s")
    return plain_text(attempt.phase or attempt.status)[:200]
