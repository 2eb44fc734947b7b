"""People who sign up, sign in and fill in the service's forms, each in their own browser."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from app.accounts.service import Accounts
from tests.app.page_tag_rule import same_tag_same_page

PASSWORD = "four quiet grey geese"
SITE = {"Origin": "http://meshgrade.test"}


@asynccontextmanager
async def browser(service, **options: object) -> AsyncIterator[httpx.AsyncClient]:
    """A browser without cookies, which asks for pages."""
    transport = httpx.ASGITransport(service.app, raise_app_exceptions=False, **options)
    headers = {"Accept": "text/html", "User-Agent": "Test browser"}
    hooks = {"response": [same_tag_same_page]}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://meshgrade.test", headers=headers, event_hooks=hooks
    ) as http:
        yield http


def form_token(page: str) -> str:
    return re.search(r'name="form_token" value="([0-9a-f]{128})"', page)[1]


async def send_form(http: httpx.AsyncClient, page: str, action: str, **fields: str) -> httpx.Response:
    """Open `page`, then send one of its forms as a browser does."""
    html = (await http.get(page, headers={"Accept": "text/html"})).text
    assert f'action="{action}"' in html
    return await http.post(action, data={"form_token": form_token(html), **fields}, headers=SITE)


async def sign_in(service, http: httpx.AsyncClient | None = None) -> None:
    """Sign in as the owner, with the printed link."""
    accounts = service.services[Accounts]
    link = await accounts.new_sign_in_link(await accounts.ensure_owner())
    answer = await (http or service.http).get("/sign-in", params={"token": link})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def sign_up(service, http: httpx.AsyncClient, name: str, role: str = "student") -> None:
    """Sign up by an invitation from the owner."""
    accounts = service.services[Accounts]
    invitation, _ = await accounts.invitations.create(await accounts.ensure_owner(), role, "", 7)
    page = f"/sign-up?invitation={invitation}"
    answer = await send_form(http, page, "/sign-up", name=name, password=PASSWORD, invitation=invitation)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
