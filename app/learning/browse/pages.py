"""The pages on which you find a problem: the front page of a guest, and the catalogue."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import current_user
from app.core.database import Database
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.drawings.fsdp import draw_step
from app.core.web.drawings.prerequisites import Box, draw_map
from app.core.web.templating import render_page
from app.grading.attempts.progress import progress
from app.grading.queue.local_judge import LocalJudge
from app.learning.browse.catalogue_listing import DIFFICULTIES, STATES, Filter, Listing, list_problems
from app.learning.browse.front_page_example import EXAMPLE
from app.learning.lessons.lesson_files import Lessons
from app.problems.catalogue import Catalogue

router = APIRouter(include_in_schema=False)
MaybeUser = Annotated[User | None, Depends(current_user)]


@router.get("/")
async def show_front_page(
    user: MaybeUser, catalogue: Provided[Catalogue], settings: Provided[Settings], lessons: Provided[Lessons]
) -> Response:
    """Introduce Meshgrade to a guest. Anyone who is signed in is sent to the problems."""
    if user is not None:
        return RedirectResponse("/problems", status_code=303)
    listing = list_problems(catalogue.sections(), {})
    # A guest can run code, and has no question of their own.
    to_run = next((row for row in listing.rows if row.has_code and row.is_open), None)
    guest_runs = settings.guest_runs_in_total > 0 and to_run is not None
    return render_page(
        "front.html",
        user=None,
        listing=listing,
        lessons=lessons,
        first=to_run if guest_runs else listing.up_next,
        step=draw_step(),
        example=EXAMPLE,
        guest_runs=guest_runs,
    )


@router.get("/problems")
async def list_all(
    request: Request,
    user: MaybeUser,
    database: Provided[Database],
    catalogue: Provided[Catalogue],
    lessons: Provided[Lessons],
    judge: Provided[LocalJudge],
) -> HTMLResponse:
    """Every problem is in the page, and those that the filter leaves out are hidden: scripts filter the same page."""
    reached = await progress(database, user) if user else {}
    listing = list_problems(catalogue.sections(), reached)
    chosen = Filter.read(request.query_params)
    return render_page(
        "problems.html",
        user=user,
        listing=listing,
        lessons=lessons,
        wanted=chosen,
        shown={row.slug for row in listing.rows if chosen.matches(row)},
        difficulties=DIFFICULTIES,
        states=STATES if user else (),
        map=_map(listing),
        preparing=judge.preparation(),
    )


def _map(listing: Listing) -> object:
    boxes = [
        Box(row.slug, row.title, f"/problems/{row.slug}", row.state, tuple(each.slug for each in row.needs))
        for row in listing.rows
    ]
    return draw_map(boxes, "Map of prerequisites") if any(box.needs for box in boxes) else None
