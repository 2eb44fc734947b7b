"""What owners do to an account, on its page and over REST: another role, deactivation, a new way in."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from app.accounts.audit.log import ACTION_WORDS, LONGEST_REASON, AuditLog
from app.accounts.caller import Caller
from app.accounts.roles import ROLES
from app.accounts.service import Accounts
from app.accounts.web import require_caller_role, sign_in_link
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, Typed
from app.core.rest.paging import Cursor, Page
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_secret_page
from app.teaching.people.account_changes import PeopleChanges
from app.teaching.people.directory import Directory, Person
from app.teaching.people.read_access import may_read
from app.teaching.people.schemas import NewRoleJSON, ReasonJSON, SignInLinkJSON

Reader = Annotated[Caller, Depends(require_caller_role("instructor"))]
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]
_ENTRIES = 20
_DONE = {
    "set_role": "The role was changed.",
    "deactivate_person": "Deactivated.",
    "reactivate_person": "Reactivated.",
    "merge_people": "Merged.",
    "requested": "Another owner has to ask for the erasure, too, within a week.",
}
_REFUSALS = problem_responses(409)


@dataclass(frozen=True)
class PersonPage(FormPage):
    """The page of a person, which instructors read and owners change."""

    request: Request
    person_id: str
    caller: Reader
    accounts: Provided[Accounts]
    directory: Provided[Directory]
    audit: Provided[AuditLog]
    path = "/people/{person_id}"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(refusal)

    async def done(self, action: str, result: Any) -> Response:
        # The link can be shown only once, so there is no redirect.
        if isinstance(result, SignInLinkJSON):
            return await self.show(link=result.url)
        return RedirectResponse(f"{self.address}?done={action}", status_code=303)

    async def show(self, refusal: Refused | None = None, link: str | None = None) -> HTMLResponse:
        user = self.caller.user
        person = await self.directory.get(self.person_id)
        is_owner = user.role == "owner"
        return render_secret_page(
            "teaching/people/person.html",
            refusal=refusal,
            user=user,
            person=person,
            is_owner=is_owner,
            may_read=may_read(user, person),
            is_own=person.id == user.id,
            recent=self.accounts.recent.covers(self.caller),
            link=link,
            link_minutes=self.accounts.link_life.total_seconds() / 60,
            done=_DONE.get(self.request.query_params.get("done", "")),
            roles=ROLES,
            longest_reason=LONGEST_REASON,
            entries=await self.audit.list(Cursor(_ENTRIES), about=person.id) if is_owner else Page(),
            words=ACTION_WORDS,
        )


actions = Actions("people", PersonPage)


@actions.put("/people/{person_id}/role", summary="Change the role of an account, as an owner", responses=_REFUSALS)
async def set_role(
    person_id: str, caller: Owner, body: NewRoleJSON, people: Provided[PeopleChanges], directory: Provided[Directory]
) -> Person:
    await people.set_role(caller, person_id, body.role, body.reason)
    return await directory.get(person_id)


@actions.post(
    "/people/{person_id}/deactivate",
    summary="Deactivate an account: sign it out and refuse its API tokens, as an owner",
    responses=_REFUSALS,
)
async def deactivate_person(
    person_id: str, caller: Owner, body: ReasonJSON, people: Provided[PeopleChanges], directory: Provided[Directory]
) -> Person:
    await people.deactivate(caller, person_id, body.reason)
    return await directory.get(person_id)


@actions.post("/people/{person_id}/reactivate", summary="Reactivate an account, as an owner", responses=_REFUSALS)
async def reactivate_person(
    person_id: str, caller: Owner, body: ReasonJSON, people: Provided[PeopleChanges], directory: Provided[Directory]
) -> Person:
    await people.reactivate(caller, person_id, body.reason)
    return await directory.get(person_id)


@actions.post(
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
