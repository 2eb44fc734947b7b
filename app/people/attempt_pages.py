"""What instructors read of others: a person's attempts, their story at a problem, and everyone at it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.attempts.filter import KINDS, STATUSES, AttemptFilter
from app.attempts.standing import progress
from app.people.at_problem import who_tried
from app.people.reading import reach
from app.people.services import PeopleServices
from app.people.story import read_story
from app.services import services_of
from app.web.reasons import REASONS
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)
Instructor = Annotated[User, Depends(require_role("instructor"))]
# `reach` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]
Later = Annotated[str | None, Query(max_length=200)]
_PAGE = 50
_STEPS = 20


@router.get("/people/{person_id}/attempts")
async def list_attempts_of_person(request: Request, person_id: str, user: Grader, before: Later = None) -> HTMLResponse:
    """The filter is in the address, and so in the address of each further page."""
    services = services_of(request, PeopleServices)
    may = await reach(services.directory, services.assistance, user, person_id)
    person, owner = may.person, may.owner
    only = AttemptFilter.read(request.query_params)
    page = await services.attempts.list(
        owner, limit=_PAGE + 1, before=before, only=only, for_instructor=True, within=may.problems
    )
    page, more = page[:_PAGE], len(page) > _PAGE
    titles = _titles(request)
    at = await progress(services.database, owner)
    tried = at if may.problems is None else at.keys() & may.problems
    here = f"/people/{person.id}/attempts"
    return render_page(
        "person_attempts.html",
        user=user,
        person=person,
        here=here,
        attempts=page,
        unwritten=await services.attempts.unwritten(owner, page),
        comments=await services.comments.counts([each.id for each in page]),
        older=only.address(path=here, before=page[-1].id) if more else None,
        wanted=only,
        titles=titles,
        problems=sorted(tried, key=lambda slug: (titles.get(slug) or slug).lower()),
        kinds=KINDS,
        statuses=STATUSES,
        reasons=list(REASONS),
        reason_names={reason: found.name for reason, found in REASONS.items()},
    )


@router.get("/people/{person_id}/problems/{slug}")
async def show_story(request: Request, person_id: str, slug: str, user: Grader, after: Later = None) -> HTMLResponse:
    """Each attempt in order, with what changed since the one before."""
    services = services_of(request, PeopleServices)
    may = await reach(services.directory, services.assistance, user, person_id)
    may.require(slug)
    person = may.person
    steps = await read_story(services.database, person.id, slug.replace("\0", ""), _STEPS + 1, after)
    page, more = steps[:_STEPS], len(steps) > _STEPS
    here = f"/people/{person.id}/problems/{slug}"
    return render_page(
        "person_story.html",
        user=user,
        person=person,
        slug=slug,
        title=_titles(request).get(slug, slug),
        steps=page,
        first=here if after else None,
        further=f"{here}?after={page[-1].attempt.id}" if more else None,
    )


@router.get("/problems/{slug}/people")
async def list_who_tried(request: Request, slug: str, user: Instructor, after: Later = None) -> HTMLResponse:
    services = services_of(request, PeopleServices)
    problem = services.catalogue.get(slug)
    people = await who_tried(services.database, user, problem.slug, _PAGE + 1, after)
    page, more = people[:_PAGE], len(people) > _PAGE
    return render_page(
        "problem_people.html",
        user=user,
        problem=problem,
        people=page,
        first=f"/problems/{problem.slug}/people" if after else None,
        further=page[-1].name if more else None,
    )


def _titles(request: Request) -> dict[str, str]:
    return {each.slug: each.manifest.title for each in services_of(request, PeopleServices).catalogue.all()}
