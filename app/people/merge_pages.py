"""The page on which an owner merges two accounts of one person, and the same over REST."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller
from app.accounts.web import accounts_of, require_caller_role
from app.errors import Refused, SignInAgain
from app.people.listing import Directory, Person
from app.people.merge import Merging
from app.people.schemas import MergeJSON
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import Provided, services_of
from app.web.forms import read_form
from app.web.templating import render_secret_page

router = APIRouter(include_in_schema=False)
api = rest_router("people")
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]


@router.get("/people/{person_id}/merge")
async def preview_merge(
    request: Request, person_id: str, caller: Owner, into: Annotated[str, Query(max_length=200)] = ""
) -> HTMLResponse:
    return await _page(request, person_id, caller, into)


@router.post("/people/{person_id}/merge")
async def merge(request: Request, person_id: str, caller: Owner, merging: Provided[Merging]) -> Response:
    form = await read_form(request)
    into = form.get("into", "")
    try:
        rest_id = await merging.merge(
            caller, person_id, into, form.get("reason", ""), confirmed=form.get("confirmed") == "on"
        )
    except SignInAgain as needed:
        raise needed.back_to(f"/people/{person_id}/merge") from None
    except Refused as refusal:
        return await _page(request, person_id, caller, into, refusal)
    return RedirectResponse(f"/people/{rest_id}?done=merged", status_code=303)


@api.post(
    "/people/{person_id}/merge",
    summary="Merge this account into another one, which remains, as an owner; nothing undoes it",
    responses=problem_responses(409),
)
async def merge_people(
    person_id: str, caller: Owner, body: MergeJSON, merging: Provided[Merging], directory: Provided[Directory]
) -> Person:
    rest_id = await merging.merge(caller, person_id, body.into, body.reason, confirmed=body.end_higher_role)
    return await directory.get(rest_id)


async def _page(
    request: Request, person_id: str, caller: Caller, into: str, refusal: Refused | None = None
) -> HTMLResponse:
    services = services_of(request)
    person, preview = await services[Directory].get(person_id), None
    if into:
        try:
            preview = await services[Merging].preview(caller, person_id, into)
        except Refused as wrong:
            refusal = refusal or wrong
    return render_secret_page(
        "merge.html",
        refusal=refusal,
        user=caller.user,
        person=person,
        into=into,
        preview=preview,
        recent=accounts_of(request).recent.covers(caller),
    )
