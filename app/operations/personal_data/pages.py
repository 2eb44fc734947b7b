"""The pages on which you export all data about you, and delete your account."""

from fastapi import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from app.accounts.caller import User
from app.accounts.errors import NameDiffers
from app.accounts.service import Accounts
from app.accounts.web import Own, client_address, signed_out
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_secret_page
from app.grading.queue.protocol import GradeQueue
from app.operations.personal_data.deletion import delete_account
from app.operations.personal_data.export import export_response

router = PageRouter("/account")


@router.get("/export")
async def export(caller: Own, database: Provided[Database]) -> StreamingResponse:
    return export_response(database, caller.user)


@router.get("/delete")
async def show_delete(caller: Own, accounts: Provided[Accounts]) -> HTMLResponse:
    return await _delete_page(accounts, caller.user)


@router.post("/delete")
async def delete(
    request: Request,
    caller: Own,
    database: Provided[Database],
    queue: Provided[GradeQueue],
    accounts: Provided[Accounts],
) -> Response:
    """Requires the password again, or the name if the account has no password."""
    user, form = caller.user, await read_form(request)
    try:
        if await accounts.has_password(user):
            await accounts.check_own_password(user, form.get("password", ""), client_address(request))
        elif form.get("name") != user.name:
            raise NameDiffers("This is not the name of your account. Nothing was deleted.")
        await delete_account(database, queue, user)
    except Refused as refusal:
        return await _delete_page(accounts, user, refusal)
    return signed_out(request)


async def _delete_page(accounts: Accounts, user: User, refusal: Refused | None = None) -> HTMLResponse:
    has_password = await accounts.has_password(user)
    return render_secret_page(
        "operations/personal_data/account_delete.html", refusal=refusal, user=user, has_password=has_password
    )
