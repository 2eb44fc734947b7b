"""REST: what instructors read of others."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.attempts.schemas import AttemptPage, AttemptSummaryJSON
from app.people.at_problem import who_tried
from app.people.reading import attempt_of, reach
from app.people.schemas import PersonAtProblemJSON, ProblemPeoplePage, SourcedAttemptJSON
from app.people.services import PeopleServices
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["people"])
Instructor = Annotated[User, Depends(require_role("instructor"))]
# `reach` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.get(
    "/people/{person_id}/attempts",
    summary="The attempts and runs of an account, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_attempts_of_person(
    request: Request,
    person_id: str,
    user: Grader,
    problem: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{1,63}$", description="Only of this problem")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> AttemptPage:
    services = services_of(request, PeopleServices)
    may = await reach(services.directory, services.assistance, user, person_id)
    attempts = await services.attempts.list(
        may.owner, problem, limit + 1, before, for_instructor=True, within=may.problems
    )
    more = len(attempts) > limit
    return AttemptPage(
        attempts=[AttemptSummaryJSON.of(each) for each in attempts[:limit]],
        next=attempts[limit - 1].id if more else None,
    )


@router.get(
    "/people/{person_id}/attempts/{attempt_id}",
    summary="One attempt of a person, with its source",
    responses=problem_responses(401, 403, 404),
)
async def get_attempt_of_person(request: Request, person_id: str, attempt_id: str, user: Grader) -> SourcedAttemptJSON:
    services = services_of(request, PeopleServices)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    return SourcedAttemptJSON.of(attempt)


@router.get(
    "/problems/{slug}/people",
    summary="The people who have tried a problem, by name",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_who_tried(
    request: Request,
    slug: str,
    user: Instructor,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the previous page")] = None,
) -> ProblemPeoplePage:
    services = services_of(request, PeopleServices)
    problem = services.catalogue.get(slug).slug
    people = await who_tried(services.database, user, problem, limit + 1, after)
    more = len(people) > limit
    return ProblemPeoplePage(
        people=[PersonAtProblemJSON.of(each) for each in people[:limit]], next=people[limit - 1].name if more else None
    )
