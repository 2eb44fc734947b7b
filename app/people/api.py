"""REST: people, for instructors to read and for owners to change."""

from typing import Annotated

from fastapi import Depends, Query, Request, Response

from app.accounts.caller import Caller
from app.accounts.roles import Role
from app.accounts.web import Instructor, require_caller_role, sign_in_link
from app.people.changes import PeopleChanges
from app.people.listing import Directory, PeopleFilter, Person, State
from app.people.schemas import NewRoleJSON, PeoplePage, ReasonJSON, SignInLinkJSON
from app.rest.paging import ByName
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import Provided

router = rest_router("people")
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]
_REFUSALS = problem_responses(409)


@router.get("/people", summary="All accounts, by name")
async def list_people(
    user: Instructor,
    directory: Provided[Directory],
    cursor: ByName,
    q: Annotated[str, Query(max_length=100, description="A part of the name")] = "",
    role: Annotated[Role | None, Query(description="Only these")] = None,
    state: Annotated[State | None, Query(description="Only these")] = None,
) -> PeoplePage:
    only = PeopleFilter.read({"q": q, "role": role or "", "state": state or ""})
    people = await directory.list(only, cursor)
    return PeoplePage(people=people, next=people.next)


@router.get("/people/{person_id}", summary="One account")
async def get_person(person_id: str, user: Instructor, directory: Provided[Directory]) -> Person:
    return await directory.get(person_id)


@router.put("/people/{person_id}/role", summary="Change the role of an account, as an owner", responses=_REFUSALS)
async def set_role(
    person_id: str, caller: Owner, body: NewRoleJSON, people: Provided[PeopleChanges], directory: Provided[Directory]
) -> Person:
    await people.set_role(caller, person_id, body.role, body.reason)
    return await directory.get(person_id)


@router.post(
    "/people/{person_id}/deactivate",
    summary="Deactivate an account: sign it out and refuse its API tokens, as an owner",
    responses=_REFUSALS,
)
async def deactivate_person(
    person_id: str, caller: Owner, body: ReasonJSON, people: Provided[PeopleChanges], directory: Provided[Directory]
) -> Person:
    await people.deactivate(caller, person_id, body.reason)
    return await directory.get(person_id)


@router.post("/people/{person_id}/reactivate", summary="Reactivate an account, as an owner", responses=_REFUSALS)
async def reactivate_person(
    person_id: str, caller: Owner, body: ReasonJSON, people: Provided[PeopleChanges], directory: Provided[Directory]
) -> Person:
    await people.reactivate(caller, person_id, body.reason)
    return await directory.get(person_id)


@router.post(
    "/people/{person_id}/password-reset",
    summary="Remove the password of an account and create a link that signs its user in once, as an owner",
    responses=_REFUSALS,
)
async def reset_password(
    request: Request,
    response: Response,
    person_id: str,
    caller: Owner,
    body: ReasonJSON,
    people: Provided[PeopleChanges],
) -> SignInLinkJSON:
    token = await people.reset_password(caller, person_id, body.reason)
    response.headers["Cache-Control"] = "no-store"
    return SignInLinkJSON(url=sign_in_link(request, token))
