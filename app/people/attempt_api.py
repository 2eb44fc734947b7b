"""REST: what instructors read of others."""

from typing import Annotated

from fastapi import Depends, Query, Request

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.attempts.schemas import AttemptPage, AttemptSummaryJSON
from app.attempts.service import Attempts
from app.database import Database
from app.people.assistance import Assistance
from app.people.at_problem import who_tried
from app.people.listing import Directory
from app.people.reading import attempt_of, reach
from app.people.schemas import PersonAtProblemJSON, ProblemPeoplePage, SourcedAttemptJSON
from app.problems.service import Catalogue
from app.rest.paging import ByName, NewestFirst
from app.rest.routing import rest_router
from app.services import Provided, services_of

router = rest_router("people")
Instructor = Annotated[User, Depends(require_role("instructor"))]
# `reach` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.get("/people/{person_id}/attempts", summary="The attempts and runs of an account, newest first")
async def list_attempts_of_person(
    person_id: str,
    user: Grader,
    directory: Provided[Directory],
    assistance: Provided[Assistance],
    attempts: Provided[Attempts],
    cursor: NewestFirst,
    problem: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{1,63}$", description="Only of this problem")] = None,
) -> AttemptPage:
    may = await reach(directory, assistance, user, person_id)
    found = await attempts.list(may.owner, cursor, problem, for_instructor=True, within=may.problems)
    return AttemptPage(attempts=[AttemptSummaryJSON.of(each) for each in found], next=found.next)


@router.get("/people/{person_id}/attempts/{attempt_id}", summary="One attempt of a person, with its source")
async def get_attempt_of_person(request: Request, person_id: str, attempt_id: str, user: Grader) -> SourcedAttemptJSON:
    services = services_of(request)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    return SourcedAttemptJSON.of(attempt)


@router.get("/problems/{slug}/people", summary="The people who have tried a problem, by name")
async def list_who_tried(
    slug: str,
    user: Instructor,
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    cursor: ByName,
) -> ProblemPeoplePage:
    problem = catalogue.get(slug).slug
    people = await who_tried(database, user, problem, cursor)
    return ProblemPeoplePage(people=[PersonAtProblemJSON.of(each) for each in people], next=people.next)
