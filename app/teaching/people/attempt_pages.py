"""What instructors read of others: a person's attempts, their story at a problem, and everyone at it."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Grader, Instructor
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_list, render_page
from app.grading.attempts.filter import AttemptFilter, choices
from app.grading.attempts.progress import progress
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptViews
from app.grading.comments.service import Comments
from app.problems.catalogue import Catalogue
from app.teaching.identities.identity import RosterIdentities
from app.teaching.people.at_problem import who_tried
from app.teaching.people.attempt_timeline import read_timeline
from app.teaching.people.read_access import PersonsReach

router = PageRouter()
Later = Annotated[str | None, Query(max_length=200)]
_PAGE = 50
_STEPS = 20


@router.get("/people/{person_id}/attempts")
async def list_attempts_of_person(
    request: Request,
    may: PersonsReach,
    user: Grader,
    attempts: Provided[Attempts],
    database: Provided[Database],
    comments: Provided[Comments],
    catalogue: Provided[Catalogue],
    before: Later = None,
) -> Response:
    """The filter is in the address, and so in the address of each further page."""
    person, owner = may.person, may.owner
    only = AttemptFilter.read(request.query_params)
    page = await attempts.list(owner, Cursor(_PAGE, before), only=only, seen=may.seen, within=may.problems)
    at = await progress(database, owner)
    tried = at if may.problems is None else at.keys() & may.problems
    here = f"/people/{person.id}/attempts"
    return render_list(
        "teaching/people/person_attempts.html",
        user=user,
        catalogue=catalogue.seen,
        person=person,
        tried=tried if may.problems is None else frozenset(tried),
        here=here,
        attempts=page,
        unwritten=await attempts.unwritten(owner, page),
        comments=await comments.counts([each.id for each in page]),
        older=only.address(path=here, before=page.next) if page.next else None,
        wanted=only,
        more=lambda: choices(catalogue.titles(), tried),
    )


@router.get("/people/{person_id}/problems/{slug}")
async def show_story(
    may: PersonsReach,
    slug: str,
    user: Grader,
    database: Provided[Database],
    catalogue: Provided[Catalogue],
    views: Provided[AttemptViews],
    after: Later = None,
) -> HTMLResponse:
    """Each attempt in order, with what changed since the previous one."""
    may.require(slug)
    person = may.person
    steps = await read_timeline(database, views, person.id, slug.replace("\0", ""), Cursor(_STEPS, after), may.seen)
    here = f"/people/{person.id}/problems/{slug}"
    return render_page(
        "teaching/people/person_story.html",
        user=user,
        person=person,
        slug=slug,
        title=catalogue.title_of(slug),
        steps=steps,
        first=here if after else None,
        further=f"{here}?after={steps.next}" if steps.next else None,
    )


@router.get("/problems/{slug}/people")
async def list_who_tried(
    slug: str,
    user: Instructor,
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    identities: Provided[RosterIdentities],
    after: Later = None,
) -> Response:
    problem = catalogue.get(slug)
    people = await who_tried(database, identities, user, problem.slug, Cursor(_PAGE, after))
    return render_list(
        "teaching/people/problem_people.html",
        user=user,
        catalogue=catalogue.seen,
        people=people,
        first=f"/problems/{problem.slug}/people" if after else None,
        further=people.next,
        more=lambda: {"problem": problem},
    )
