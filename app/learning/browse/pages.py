"""The pages on which you find a problem or a lesson: a guest's front page, the catalogue and the list of lessons."""

from typing import Any

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from app.accounts.web import MaybeUser
from app.core.database import Database
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.templating import render_list, render_page
from app.grading.attempts.progress import progress
from app.grading.attempts.solved_counts import SolvedCounts
from app.grading.queue.local_judge import LocalJudge
from app.learning.browse.catalogue_listing import DIFFICULTIES, STATES, Filter, list_problems
from app.learning.browse.front_page_example import EXAMPLE
from app.learning.browse.journey import lines_of
from app.learning.browse.lesson_list import list_lessons
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.reading import LessonReads
from app.learning.workbench.solving_times import SolvingTimes
from app.problems.catalogue import Catalogue

router = PageRouter()


@router.get("/")
async def show_front_page(
    user: MaybeUser,
    catalogue: Provided[Catalogue],
    settings: Provided[Settings],
    lessons: Provided[Lessons],
    times: Provided[SolvingTimes],
) -> Response:
    """Introduce Meshgrade to a guest. Anyone who is signed in is sent to the problems."""
    if user is not None:
        return RedirectResponse("/problems", status_code=303)
    listing = list_problems(catalogue.sections(), {}, await times.by_problem())
    return render_page(
        "learning/browse/front.html",
        user=None,
        listing=listing,
        lines=lines_of(listing, lessons.all(), ()),
        lessons=lessons,
        example=EXAMPLE,
        titles=catalogue.titles(),
        guest_runs=settings.guest_runs_in_total > 0,
    )


@router.get("/problems")
async def list_all(
    request: Request,
    user: MaybeUser,
    database: Provided[Database],
    catalogue: Provided[Catalogue],
    lessons: Provided[Lessons],
    judge: Provided[LocalJudge],
    solved: Provided[SolvedCounts],
    reads: Provided[LessonReads],
    times: Provided[SolvingTimes],
) -> Response:
    """Every problem is in the page, and those that the filter leaves out are hidden: scripts filter the same page."""
    reached = await progress(database, user) if user else {}
    counts, taken, read = await solved.by_problem(), await times.by_problem(), await reads.of(request, user)
    chosen, preparation = Filter.read(request.query_params), judge.preparation()

    def more() -> dict[str, Any]:
        listing = list_problems(catalogue.listed(), reached, taken)
        return {
            "listing": listing,
            "lines": lines_of(listing, lessons.all(), read),
            "lessons": lessons,
            # What the rows of a track have beside what the listing says.
            "solved_of": lambda group: tuple(counts.get(row.slug) for row in group.rows),
            "shown": {row.slug for row in listing.rows if chosen.matches(row)},
            "difficulties": DIFFICULTIES,
            "states": STATES if user else (),
        }

    return render_list(
        "learning/browse/problems.html",
        user=user,
        seen=(catalogue.seen, lessons.seen, times.seen),
        reached=reached,
        solved=counts,
        read=read,
        wanted=chosen,
        preparing=preparation if preparation and preparation.is_news else None,
        more=more,
    )


@router.get("/lessons")
async def list_all_lessons(
    request: Request,
    user: MaybeUser,
    database: Provided[Database],
    catalogue: Provided[Catalogue],
    lessons: Provided[Lessons],
    reads: Provided[LessonReads],
) -> Response:
    reached = await progress(database, user) if user else {}
    read = await reads.of(request, user)

    def more() -> dict[str, Any]:
        return {"cards": list_lessons(list_problems(catalogue.listed(), reached), lessons.all(), read)}

    return render_list(
        "learning/browse/lessons.html",
        user=user,
        seen=(catalogue.seen, lessons.seen),
        reached=reached,
        read=read,
        more=more,
    )
