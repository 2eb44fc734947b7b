"""Giving up on a problem: a page that says what this means, with the button that does it. REST does the same."""

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from app.accounts.web import Reader, Submitter
from app.core.database import Database
from app.core.errors import AlreadyAccepted, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.grading.attempts.give_up import GiveUps
from app.grading.attempts.progress import standings
from app.learning.workbench.schemas import GiveUpJSON, SurrenderJSON
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility


@dataclass(frozen=True)
class GiveUpPage(FormPage):
    """The page leads to the editorial once the problem is accepted or given up on."""

    slug: str
    # The text itself, not its section: a browser opens what the address leads into.
    path = "/problems/{slug}#the-editorial"

    async def fill(self, action: str, typed: Typed) -> Response | None:
        # The page says what giving up means, so its button confirms it.
        typed["confirm"] = "yes"
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        # An attempt that was being graded may be accepted by now. The editorial is then open, which is even better.
        if isinstance(refusal, AlreadyAccepted):
            return await self.done(action, None)
        raise refusal


actions = Actions("attempts", GiveUpPage)
_PATH = "/problems/{slug}/give-up"


@actions.pages.get(_PATH)
async def show_give_up(
    slug: str,
    user: Reader,
    visibility: Provided[Visibility],
    database: Provided[Database],
    give_ups: Provided[GiveUps],
    page: PageOf[GiveUpPage],
) -> Response:
    package = (await visibility.visible(user, slug)).require("giving_up")
    standing = (await standings(database, user, package.slug)).get(package.slug)
    if (standing and standing.accepted) or await give_ups.at(user, package.slug):
        return RedirectResponse(page.address, status_code=303)
    best_score = standing.best_score if standing else None
    return render_page("learning/workbench/give_up.html", user=user, problem=package, best_score=best_score)


@actions.post(
    _PATH,
    summary="Give up on a problem: opens its editorial, and ends scoring",
    responses=problem_responses(409),
)
async def give_up(
    slug: str,
    user: Submitter,
    body: GiveUpJSON,
    catalogue: Provided[Catalogue],
    give_ups: Provided[GiveUps],
) -> SurrenderJSON:
    problem = catalogue.get(slug).slug
    return SurrenderJSON(problem=problem, gave_up_at=await give_ups.give_up(user, problem))
