"""One attempt of somebody, as instructors and assistants read it, and what they add: comments on its lines."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Grader
from app.attempts.overrides import MOST_POINTS
from app.attempts.source_colours import colour_lines
from app.attempts.views import AttemptView
from app.audit.log import LONGEST_REASON
from app.comments.service import LONGEST, Comments, may_remove
from app.errors import FieldInvalid, ProblemNotFound, Refused
from app.people.listing import Person
from app.people.reading import PersonsAttempt
from app.problems.service import Catalogue
from app.services import Provided, services_of
from app.web.forms import read_form
from app.web.templating import render_page
from app.web.verdict_view import arrange_verdict

router = APIRouter(prefix="/people/{person_id}/attempts/{attempt_id}", include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Written:
    """What was typed into the form of a comment, and why it was refused."""

    line: str = ""
    text: str = ""
    refusal: Refused | None = None


@dataclass(frozen=True, slots=True)
class TypedPoints:
    """What was typed into the form of points, and why it was refused."""

    score: str = ""
    reason: str = ""
    refusal: Refused | None = None


NOTHING_WRITTEN, NO_POINTS = Written(), TypedPoints()


@router.get("")
async def show_attempt_of_person(
    request: Request, user: Grader, found: PersonsAttempt, line: Annotated[str, Query(max_length=9)] = ""
) -> HTMLResponse:
    """What its owner sees of it, without the buttons. `line` is put into the form of a comment."""
    return await review_page(request, found, user, Written(line))


@router.post("/comments")
async def comment(request: Request, user: Grader, found: PersonsAttempt, comments: Provided[Comments]) -> Response:
    person, attempt = found
    # Percent-encoding turns one character into at most twelve bytes.
    form = await read_form(request, max_bytes=12 * LONGEST + 1024)
    line, text = form.get("line", "").strip(), form.get("text", "")
    try:
        if not (line.isascii() and line.isdecimal()):
            raise FieldInvalid("line: must be the number of a line, such as 12.")
        added = await comments.add(user, person.id, attempt.id, attempt.source, int(line[:9]), text)
    except Refused as refusal:
        return await review_page(request, found, user, Written(line, text, refusal))
    return RedirectResponse(f"/people/{person.id}/attempts/{attempt.id}#comment-{added.id}", status_code=303)


@router.post("/comments/{comment_id}/remove")
async def remove_comment(
    request: Request, comment_id: str, user: Grader, found: PersonsAttempt, comments: Provided[Comments]
) -> Response:
    person, attempt = found
    await read_form(request)
    await comments.remove(user, person.id, attempt.id, comment_id)
    return RedirectResponse(f"/people/{person.id}/attempts/{attempt.id}#sent", status_code=303)


async def review_page(
    request: Request,
    found: tuple[Person, AttemptView],
    user: User,
    written: Written = NOTHING_WRITTEN,
    points: TypedPoints = NO_POINTS,
) -> HTMLResponse:
    """The page of the attempt, with what was typed into a form that was refused."""
    services = services_of(request)
    person, attempt = found
    try:
        package = services[Catalogue].get(attempt.problem)
        title, starter, is_answer = package.manifest.title, package.starter, package.manifest.mode == "answer"
    except ProblemNotFound:  # withdrawn since
        title, starter, is_answer = attempt.problem, "", False
    is_starter = attempt.source.split() == starter.split()
    comments = await services[Comments].of_attempt(attempt.id)
    refusal = written.refusal or points.refusal
    return render_page(
        "person_attempt.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        person=person,
        attempt=attempt,
        kind=attempt.kind.capitalize(),
        title=title,
        view=arrange_verdict(attempt.verdict, is_starter=is_starter, is_answer=is_answer) if attempt.verdict else None,
        lines=await colour_lines(attempt.source),
        comments=comments,
        removable={each.id for each in comments if may_remove(user, each)},
        written=written,
        longest=LONGEST,
        points=points,
        most_points=MOST_POINTS,
        longest_reason=LONGEST_REASON,
    )
