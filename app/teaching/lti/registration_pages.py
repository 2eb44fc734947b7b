"""The page that a platform opens to register itself, in a window or a frame of its own page.

Neither has to send our cookies, so the link alone decides: it is a secret that an owner gave to the platform.
"""

from fastapi import Request
from starlette.responses import HTMLResponse

from app.core.errors import Refused
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_unchecked_form
from app.core.web.templating import render_secret_page
from app.teaching.lti.pages import in_frame, secret
from app.teaching.lti.platforms import Platform
from app.teaching.lti.registrations import Registrations

router = PageRouter("/lti/register")
_MAX_BYTES = 64 * 1024


@router.get("/{token}")
async def ask(
    token: str, registrations: Provided[Registrations], openid_configuration: str = "", registration_token: str = ""
) -> HTMLResponse:
    """Nothing happens yet, so a program that only follows links registers nothing."""
    try:
        await registrations.look(token)
    except Refused as refusal:
        return _page(refusal=refusal)
    return _page(token, openid_configuration, registration_token)


@router.post("/{token}")
async def register(request: Request, token: str, registrations: Provided[Registrations]) -> HTMLResponse:
    form = await read_unchecked_form(request, max_bytes=_MAX_BYTES)
    address, access = form.get("openid_configuration", ""), form.get("registration_token", "")
    try:
        platform = await registrations.register(token, address, access)
    except Refused as refusal:
        return _page(refusal=refusal)
    return _page(platform=platform)


def _page(
    token: str = "",
    address: str = "",
    access: str = "",
    *,
    platform: Platform | None = None,
    refusal: Refused | None = None,
) -> HTMLResponse:
    page = render_secret_page(
        "teaching/lti/lti_register.html",
        refusal=refusal,
        token=token,
        address=address,
        access=access,
        platform=platform,
    )
    # Otherwise the browser cuts the connection to the window that waits for this one to finish.
    page.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    secret(page)
    return in_frame(page)
