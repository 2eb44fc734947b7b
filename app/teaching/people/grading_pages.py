"""How an attempt was graded, for instructors: on a page and over REST."""

from datetime import timedelta

from starlette.responses import HTMLResponse

from app.accounts.web import Instructor
from app.core.database import Database
from app.core.errors import ProblemNotFound
from app.core.rest.routing import PageRouter, RestRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.grading.attempts.phases import in_words
from app.grading.queue.grading_tries import Try
from app.problems.catalogue import Catalogue
from app.teaching.people.grading_history import read_grading_history
from app.teaching.people.read_access import PersonsAttempt
from app.teaching.people.schemas import GradingJSON

router = PageRouter()
api = RestRouter("people")
_END_WORDS = {
    "finished": "finished with a verdict",
    "failed": "the grader failed",
    "stopped": "returned to the queue: the worker was shut down, or a wall was missing",
    "died": "the worker died, or was paused for too long",
    "cancelled": "cancelled",
}


@router.get("/people/{person_id}/attempts/{attempt_id}/grading")
async def show_grading(
    user: Instructor, found: PersonsAttempt, database: Provided[Database], catalogue: Provided[Catalogue]
) -> HTMLResponse:
    story = await read_grading_history(database, *found)
    attempt = story.attempt
    try:
        title = catalogue.get(attempt.problem).manifest.title
    except ProblemNotFound:  # withdrawn since
        title = attempt.problem
    return render_page(
        "teaching/people/person_grading.html",
        user=user,
        story=story,
        title=title,
        kind=attempt.kind.capitalize(),
        waited=None if attempt.started_at is None else _seconds(attempt.started_at - attempt.created_at),
        tries=[(each, _took(each), _phases(each)) for each in story.tries],
        end_words=_END_WORDS,
    )


@api.get(
    "/people/{person_id}/attempts/{attempt_id}/grading",
    summary="How an attempt was graded: each try, its worker, its phases and its end",
)
async def get_grading(user: Instructor, found: PersonsAttempt, database: Provided[Database]) -> GradingJSON:
    return GradingJSON.of(await read_grading_history(database, *found))


def _took(each: Try) -> str | None:
    return None if each.ended_at is None else _seconds(each.ended_at - each.started_at)


def _phases(each: Try) -> list[tuple[str, str, str]]:
    """Each phase in words, when it began, and how long it took."""
    last = round(((each.ended_at or each.started_at) - each.started_at) / timedelta(milliseconds=1))
    ends = [phase.after_ms for phase in each.phases[1:]] + [last]
    return [
        (in_words(phase.phase), _ms(phase.after_ms), _ms(max(0, end - phase.after_ms)))
        for phase, end in zip(each.phases, ends, strict=False)
    ]


def _ms(length: int) -> str:
    return _seconds(timedelta(milliseconds=length))


def _seconds(length: timedelta) -> str:
    return f"{length.total_seconds():.3g} s"
