"""The pages on which you export all data about you, and delete your account."""

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from app.accounts.errors import NameDiffers
from app.accounts.schemas import Password
from app.accounts.service import Accounts
from app.accounts.web import Own, client_address, signed_out
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.services import Provided
from app.core.web.templating import render_secret_page
from app.grading.queue.protocol import GradeQueue
from app.operations.personal_data.deletion import delete_account
from app.operations.personal_data.export import export_response


class DeleteForm(RequestBody):
    """`password`, or `name` if the account has no password."""

    password: Password = ""
    name: str = ""


@dataclass(frozen=True)
class DeletePage(FormPage):
    caller: Own
    accounts: Provided[Accounts]
    path = "/account/delete"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(refusal)

    async def show(self, refusal: Refused | None = None) -> HTMLResponse:
        user = self.caller.user
        has_password = await self.accounts.has_password(user)
        return render_secret_page(
            "operations/personal_data/account_delete.html", refusal=refusal, user=user, has_password=has_password
        )


actions = Actions("accounts", DeletePage, "/account")


@actions.pages.get("/export")
async def export(caller: Own, database: Provided[Database]) -> StreamingResponse:
    return export_response(database, caller.user)


@actions.pages.get("/delete")
async def show_delete(page: PageOf[DeletePage]) -> HTMLResponse:
    return await page.show()


@actions.form("/delete")
async def delete(
    request: Request,
    caller: Own,
    body: DeleteForm,
    database: Provided[Database],
    queue: Provided[GradeQueue],
    accounts: Provided[Accounts],
) -> Response:
    """Requires the password again, or the name if the account has no password."""
    user = caller.user
    if await accounts.has_password(user):
        await accounts.check_own_password(user, body.password, client_address(request))
    elif body.name != user.name:
        raise NameDiffers("This is not the name of your account. Nothing was deleted.")
    await delete_account(database, queue, user)
    return signed_out(request)
