"""Follows an attempt to its end, even if the connection breaks."""

from collections.abc import Callable

from pydantic import ValidationError

from app.entry.cli.remote.events import Event
from app.entry.cli.remote.responses import Attempt, AttemptState
from app.entry.cli.remote.server import Server
from grader.core.text import plain_text

_POLL_S = 20
# A proxy that buffers events buffers all of them: after two empty streams, the attempt is only polled.
_EMPTY_STREAMS = 2


def follow(server: Server, attempt: Attempt, show: Callable[[str], None]) -> Attempt:
    """Wait until the attempt has ended, and return it.

    Events are the fast way. Each time their stream ends early, a long poll reads the attempt, which is slower and also
    serves as the pause before the next stream.

    Args:
      show: called with the state whenever it changes.
    Raises:
      ServerUnusable: the server was down for too long. The attempt continues there.
    """
    last_event_id: str | None = None
    empty_streams = 0
    while not attempt.ended:
        show(_state(attempt))
        if empty_streams < _EMPTY_STREAMS:
            empty_streams += 1
            for event in server.events(attempt.id, last_event_id):
                empty_streams = 0
                last_event_id = event.id or last_event_id
                if (latest := _attempt_in(event, attempt)) is not None:
                    attempt = latest
                    show(_state(attempt))
        if not attempt.ended or (attempt.verdict is None and attempt.withheld_until is None):
            attempt = server.attempt(attempt.id, wait_s=_POLL_S)
    return attempt


def _attempt_in(event: Event, attempt: Attempt) -> Attempt | None:
    """The attempt after an event. An unreadable event is skipped, because the attempt is polled in the end."""
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
        if attempt.queue is not None and attempt.queue.workers == 0:
            return "no worker is connected; grading starts when one connects"
        if attempt.queue is None or not attempt.queue.ahead:
            return "waiting for a free worker"
        wait_s = attempt.queue.expected_wait_s
        return f"waiting: {attempt.queue.ahead} ahead of you" + ("" if wait_s is None else f", about {wait_s} s")
    return plain_text(attempt.phase or attempt.status)[:200]
