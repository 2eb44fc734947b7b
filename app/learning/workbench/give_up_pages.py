"""Giving up on a problem: a page that says what this means, with the button that does it."""

import contextlib

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from app.accounts.web import Reader, Submitter
from app.core.database import Database
from app.core.errors import AlreadyAccepted
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.grading.attempts.give_up import GiveUps
from app.grading.attempts.progress import standings
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility
from grader.package.package import Package

router = PageRouter()


@router.get("/problems/{slug}/give-up")
async def show_give_up(
    slug: str,
    user: Reader,
    visibility: Provided[Visibility],
    database: Provided[Database],
    give_ups: Provided[GiveUps],
) -> Response:
    package = (await visibility.visible(user, slug)).require("giving_up")
    standing = (await standings(database, user, package.slug)).get(package.slug)
    if (standing and standing.accepted) or await give_ups.at(user, package.slug):
        return _to_editorial(package)
    best_score = standing.best_score if standing else None
    return render_page("give_up.html", user=user, problem=package, best_score=best_score)


@router.post("/problems/{slug}/give-up")
async def give_up(
    request: Request,
    slug: str,
    user: Submitter,
    catalogue: Provided[Catalogue],
    give_ups: Provided[GiveUps],
) -> Response:
    await read_form(request)
    package = catalogue.get(slug)
    # An attempt that was being graded may be accepted by now. The editorial is then open, which is even better.
    with contextlib.suppress(AlreadyAccepted):
        await give_ups.give_up(user, package.slug)
    return _to_editorial(package)


def _to_editorial(package: Package) -> Response:
    """The text itself, not its section: a browser opens what the address leads into."""
    return RedirectResponse(f"/problems/{package.slug}#the-editorial", status_code=303)
