"""Erase a person, and export all data about one, as an owner: the page, and the same over REST."""

from dataclasses import dataclass
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.service import Accounts
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, Typed, TypedPage
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_secret_page
from app.operations.personal_data.api import EXPORTED
from app.operations.personal_data.export import export_response
from app.teaching.people.account_actions import Owner
from app.teaching.people.directory import Directory
from app.teaching.people.erasure import Erasure, ErasureJSON
from app.teaching.people.schemas import EraseJSON


@dataclass(frozen=True)
class ErasePage(TypedPage):
    """The page on which an owner erases a person."""

    person_id: str
    caller: Owner
    accounts: Provided[Accounts]
    directory: Provided[Directory]
    erasure: Provided[Erasure]
    path = "/people/{person_id}/erase"

    async def done(self, action: str, result: Any) -> Response:
        gone = result.status == "erased"
        return RedirectResponse("/people" if gone else f"/people/{self.person_id}?done=requested", status_code=303)

    async def show(self, typed: Typed, refusal: Refused | None = None) -> HTMLResponse:
        return render_secret_page(
            "teaching/people/erase.html",
            refusal=refusal,
            user=self.caller.user,
            person=await self.directory.get(self.person_id),
            requested_by=await self.erasure.requested_by(self.person_id),
            typed=typed,
            recent=self.accounts.recent.covers(self.caller),
        )


actions = Actions("people", ErasePage)


@actions.pages.get("/people/{person_id}/erase")
async def show_erase(page: PageOf[ErasePage]) -> HTMLResponse:
    return await page.show(Typed())


@actions.post(
    "/people/{person_id}/erase",
    summary="Erase an account and everything that belongs to it, as an owner; this cannot be undone",
    responses=problem_responses(409),
)
async def erase_person(person_id: str, caller: Owner, body: EraseJSON, erasure: Provided[Erasure]) -> ErasureJSON:
    return await erasure.erase(caller, person_id, body.name, body.reason)


@actions.pages.get("/people/{person_id}/export")
async def download_person(
    person_id: str, caller: Owner, erasure: Provided[Erasure], database: Provided[Database]
) -> StreamingResponse:
    return export_response(database, await erasure.record_export(caller, person_id))


@actions.api.get(
    "/people/{person_id}/export",
    summary="All data about a person, without secrets, as an owner",
    response_class=StreamingResponse,
    responses=EXPORTED,
)
async def export_person(
    person_id: str, caller: Owner, erasure: Provided[Erasure], database: Provided[Database]
) -> StreamingResponse:
    return export_response(database, await erasure.record_export(caller, person_id))
