"""REST: people, for instructors to read and for owners to change."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from app.accounts.caller import Caller, User
from app.accounts.roles import Role
from app.accounts.web import require_caller_role, require_role, sign_in_link
from app.people.listing import PeopleFilter, State
from app.people.schemas import NewRoleJSON, PeoplePage, PersonJSON, ReasonJSON, SignInLinkJSON
from app.people.services import PeopleServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["people"])
Instructor = Annotated[User, Depends(require_role("instructor"))]
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]
_REFUSALS = problem_responses(400, 401, 403, 404, 409, 413, 415, 422)


@router.get("/people", summary="All accounts, by name", responses=problem_responses(401, 403, 422))
async def list_people(
    request: Request,
    user: Instructor,
    q: Annotated[str, Query(max_length=100, description="A part of the name")] = "",
    role: Annotated[Role | None, Query(description="Only these")] = None,
    state: Annotated[State | None, Query(description="Only these")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the previous page")] = None,
) -> PeoplePage:
    only = PeopleFilter.read({"q": q, "role": role or "", "state": state or ""})
    people = await services_of(request, PeopleServices).directory.list(only, limit + 1, after)
    more = len(people) > limit
    return PeoplePage(
        people=[PersonJSON.of(each) for each in people[:limit]], next=people[limit - 1].name if more else None
    )


@router.get("/people/{person_id}", summary="One account", responses=problem_responses(401, 403, 404))
async def get_person(request: Request, person_id: str, user: Instructor) -> PersonJSON:
    return PersonJSON.of(await services_of(request, PeopleServices).directory.get(person_id))


@router.put(
    "/people/{person_id}/role",
    summary="Change the role of an account, as an owner",
    responses=_REFUSALS,
    openapi_extra=body_of(NewRoleJSON),
)
async def set_role(request: Request, person_id: str, caller: Owner) -> PersonJSON:
    services = services_of(request, PeopleServices)
    body = await read_json(request, NewRoleJSON)
    await services.people.set_role(caller, person_id, body.role, body.reason)
    return PersonJSON.of(await services.directory.get(person_id))


@router.post(
    "/people/{person_id}/deactivate",
    summary="Deactivate an account: sign it out and refuse its API tokens, as an owner",
    responses=_REFUSALS,
    openapi_extra=body_of(ReasonJSON),
)
async def deactivate_person(request: Request, person_id: str, caller: Owner) -> PersonJSON:
    services = services_of(request, PeopleServices)
    body = await read_json(request, ReasonJSON)
    await services.people.deactivate(caller, person_id, body.reason)
    return PersonJSON.of(await services.directory.get(person_id))


@router.post(
    "/people/{person_id}/reactivate",
    summary="Reactivate an account, as an owner",
    responses=_REFUSALS,
    openapi_extra=body_of(ReasonJSON),
)
async def reactivate_person(request: Request, person_id: str, caller: Owner) -> PersonJSON:
    services = services_of(request, PeopleServices)
    body = await read_json(request, ReasonJSON)
    await services.people.reactivate(caller, person_id, body.reason)
    return PersonJSON.of(await services.directory.get(person_id))


@router.post(
    "/people/{person_id}/password-reset",
    summary="Remove the password of an account and create a link that signs its user in once, as an owner",
    responses=_REFUSALS,
    openapi_extra=body_of(ReasonJSON),
)
async def reset_password(request: Request, response: Response, person_id: str, caller: Owner) -> SignInLinkJSON:
    body = await read_json(request, ReasonJSON)
    token = await services_of(request, PeopleServices).people.reset_password(caller, person_id, body.reason)
    response.headers["Cache-Control"] = "no-store"
    return SignInLinkJSON(url=sign_in_link(request, token))
