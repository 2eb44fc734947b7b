"""The list of people and the page of each, which owners also change."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller
from app.accounts.roles import ROLES
from app.accounts.web import Instructor, accounts_of, require_caller_role, sign_in_link
from app.audit.log import ACTION_WORDS, LONGEST_REASON, AuditLog
from app.errors import FieldInvalid, Refused, SignInAgain
from app.people.changes import PeopleChanges
from app.people.listing import STATES, Directory, PeopleFilter
from app.people.reading import may_read
from app.rest.paging import Cursor, Page
from app.services import Provided, services_of
from app.web.forms import read_form
from app.web.templating import render_page, render_secret_page

router = APIRouter(prefix="/people", include_in_schema=False)
Reader = Annotated[Caller, Depends(require_caller_role("instructor"))]
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]
_PAGE = 50
_ENTRIES = 20
_DONE = {
    "role": "The role was changed.",
    "deactivated": "Deactivated.",
    "reactivated": "Reactivated.",
    "merged": "Merged.",
}


@router.get("")
async def list_people(
    request: Request,
    user: Instructor,
    directory: Provided[Directory],
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> HTMLResponse:
    """The filter is in the address, and so in the address of each further page."""
    only = PeopleFilter.read(request.query_params)
    people = await directory.list(only, Cursor(_PAGE, after))
    return render_page(
        "people.html",
        user=user,
        people=people,
        total=await directory.count(only),
        wanted=only,
        roles=ROLES,
        states=STATES,
        first=only.address() if after else None,
        further=only.address(after=people.next) if people.next else None,
    )


@router.get("/{person_id}")
async def show_person(request: Request, person_id: str, caller: Reader) -> HTMLResponse:
    return await _person_page(request, person_id, caller)


@router.post("/{person_id}/role")
async def set_role(request: Request, person_id: str, caller: Owner, people: Provided[PeopleChanges]) -> Response:
    form = await read_form(request)
    try:
        role = form.get("role", "")
        if role not in ROLES:
            raise FieldInvalid(f"role: choose one of {', '.join(ROLES)}.")
        await people.set_role(caller, person_id, role, form.get("reason", ""))
    except SignInAgain as needed:
        raise needed.back_to(f"/people/{person_id}") from None
    except Refused as refusal:
        return await _person_page(request, person_id, caller, refusal)
    return _go(person_id, "role")


@router.post("/{person_id}/deactivate")
async def deactivate(request: Request, person_id: str, caller: Owner, people: Provided[PeopleChanges]) -> Response:
    form = await read_form(request)
    try:
        await people.deactivate(caller, person_id, form.get("reason", ""))
    except Refused as refusal:
        return await _person_page(request, person_id, caller, refusal)
    return _go(person_id, "deactivated")


@router.post("/{person_id}/reactivate")
async def reactivate(request: Request, person_id: str, caller: Owner, people: Provided[PeopleChanges]) -> Response:
    form = await read_form(request)
    try:
        await people.reactivate(caller, person_id, form.get("reason", ""))
    except SignInAgain as needed:
        raise needed.back_to(f"/people/{person_id}") from None
    except Refused as refusal:
        return await _person_page(request, person_id, caller, refusal)
    return _go(person_id, "reactivated")


@router.post("/{person_id}/password-reset")
async def reset_password(request: Request, person_id: str, caller: Owner, people: Provided[PeopleChanges]) -> Response:
    """Responds with the page itself instead of a redirect, because the link can be shown only once."""
    form = await read_form(request)
    try:
        token = await people.reset_password(caller, person_id, form.get("reason", ""))
    except SignInAgain as needed:
        raise needed.back_to(f"/people/{person_id}") from None
    except Refused as refusal:
        return await _person_page(request, person_id, caller, refusal)
    return await _person_page(request, person_id, caller, link=sign_in_link(request, token))


async def _person_page(
    request: Request, person_id: str, caller: Caller, refusal: Refused | None = None, link: str | None = None
) -> HTMLResponse:
    services = services_of(request)
    person = await services[Directory].get(person_id)
    is_owner = caller.user.role == "owner"
    accounts = accounts_of(request)
    return render_secret_page(
        "person.html",
        refusal=refusal,
        user=caller.user,
        person=person,
        is_owner=is_owner,
        may_read=may_read(caller.user, person),
        is_own=person.id == caller.user.id,
        recent=accounts.recent.covers(caller),
        link=link,
        link_minutes=accounts.link_life.total_seconds() / 60,
        done=_DONE.get(request.query_params.get("done", "")),
        roles=ROLES,
        longest_reason=LONGEST_REASON,
        entries=await services[AuditLog].list(Cursor(_ENTRIES), about=person.id) if is_owner else Page(),
        words=ACTION_WORDS,
    )


def _go(person_id: str, done: str) -> Response:
    return RedirectResponse(f"/people/{person_id}?done={done}", status_code=303)
