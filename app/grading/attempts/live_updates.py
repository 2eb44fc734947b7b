"""What the long poll and the event stream of an attempt tell its reader."""

from app.accounts.caller import User
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON
from app.grading.following import Followed, person
from app.grading.queue.events import Change


def followed_attempt(attempts: Attempts, user: User, attempt_id: str) -> Followed[AttemptJSON]:
    """The attempt for the long poll and the event stream, whose last event is `verdict` with the whole attempt."""
    return Followed(
        attempts.events,
        person(user),
        attempt_id,
        read=lambda placed: attempts.get(user, attempt_id, placed=placed),
        glance=lambda: attempts.glance(attempt_id),
        place_of=lambda view: view.queue,
        shown=_shown,
        last=("verdict", lambda view: view.model_dump_json()),
    )


def _shown(change: Change, view: AttemptJSON) -> Change:
    """The change as the reader of this view may see it."""
    if view.withheld_until is None:
        return change
    seen = view.model_copy(update={"status": change.status, "phase": change.phase}).withheld(view.withheld_until)
    return Change(seen.status, seen.phase)
