"""Merge two accounts of one person, as an owner: the page with a preview, and the action on it and over REST."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse, Response

from app.accounts.service import Accounts
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_secret_page
from app.teaching.people.account_actions import Owner
from app.teaching.people.directory import Directory, Person
from app.teaching.people.merge import Merging
from app.teaching.people.schemas import MergeJSON


@dataclass(frozen=True)
class MergePage(FormPage):
    """The page on which an owner merges an account into another one."""

    person_id: str
    caller: Owner
    accounts: Provided[Accounts]
    directory: Provided[Directory]
    merging: Provided[Merging]
    path = "/people/{person_id}/merge"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed.get("into", ""), refusal)

    async def show(self, into: str, refusal: Refused | None = None) -> HTMLResponse:
        person, preview = await self.directory.get(self.person_id), None
        if into:
            try:
                preview = await self.merging.preview(self.caller, self.person_id, into)
            except Refused as wrong:
                refusal = refusal or wrong
        return render_secret_page(
            "teaching/people/merge.html",
            refusal=refusal,
            user=self.caller.user,
            person=person,
            into=into,
            preview=preview,
            recent=self.accounts.recent.covers(self.caller),
        )


actions = Actions("people", MergePage)


@actions.pages.get("/people/{person_id}/merge")
async def preview_merge(page: PageOf[MergePage], into: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
    return await page.show(into)


@actions.post(
    "/people/{person_id}/merge",
    then="/people/{result.id}?done=merge_people",
    summary="Merge this account into another one, as an owner; this cannot be undone",
    responses=problem_responses(409),
)
async def merge_people(
    person_id: str, caller: Owner, body: MergeJSON, merging: Provided[Merging], directory: Provided[Directory]
) -> Person:
    rest_id = await merging.merge(caller, person_id, body.into, body.reason, confirmed=body.end_higher_role)
    return await directory.get(rest_id)
