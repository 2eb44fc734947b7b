"""What others wrote: the reference beside the user's own accepted source, and the accepted sources that ship."""

import asyncio

from markupsafe import Markup
from starlette.responses import HTMLResponse

from app.accounts.web import Reader
from app.core.database import Database
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.grading.attempts.next_problem import next_problem
from app.learning.workbench.solutions import Solutions, coloured, side_by_side
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility
from grader.package.package import Package

router = PageRouter()


@router.get("/problems/{slug}/solutions")
async def show_solutions(
    slug: str,
    user: Reader,
    visibility: Provided[Visibility],
    solutions: Provided[Solutions],
    database: Provided[Database],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    """Without an accepted attempt, it only says when it opens."""
    seen = await visibility.visible(user, slug)
    package = seen.package
    attempt = await solutions.accepted_attempt(user, package.slug)
    if attempt is None:
        exam = seen.closes("solutions")
        return render_page(
            "learning/workbench/solutions.html", user=user, problem=package, attempt=None, following=None, exam=exam
        )
    return render_page(
        "learning/workbench/solutions.html",
        user=user,
        problem=package,
        attempt=attempt,
        rows=await asyncio.to_thread(side_by_side, attempt.source, package.reference),
        styles=await asyncio.to_thread(_styles, package),
        following=await next_problem(user, database, catalogue),
    )


def _styles(package: Package) -> list[tuple[str, str, Markup]]:
    """The name of each accepted submission of the package, what it does in its own words, and its source."""
    return [
        (
            each.name,
            " ".join(each.misunderstanding.split()) or each.name.replace("_", " "),
            Markup("\n").join(coloured(each.source)),
        )
        for each in package.accepted
    ]
