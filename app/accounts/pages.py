"""Signing in by the printed link, and signing out."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.accounts.web import current_user, sign_in_with_link, sign_out
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
async def show_sign_in(request: Request, token: Annotated[str | None, Query(max_length=200)] = None) -> Response:
    """With a token: use the link up. Without: say where the link is found."""
    if token:
        return await sign_in_with_link(request, token)
    return render_page("sign_in.html", user=await current_user(request))


@router.post("/sign-out")
async def sign_out_here(request: Request) -> Response:
    return await sign_out(request)
