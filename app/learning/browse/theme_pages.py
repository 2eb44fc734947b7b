"""The form in every page's header that chooses the theme."""

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from app.core.rest.actions import Actions
from app.core.rest.body import RequestBody
from app.core.rest.routing import FROM_ANYONE
from app.core.web.next_page import own_page
from app.core.web.theme import keep_theme

actions = Actions("browse")


class ThemeForm(RequestBody):
    """`next` is the page that the form is on."""

    theme: str = ""
    next: str = ""


@actions.form("/theme", max_bytes=FROM_ANYONE)
async def choose_theme(request: Request, body: ThemeForm) -> Response:
    """Keep the choice in this browser, and go back to the page that it was made on."""
    response = RedirectResponse(own_page(body.next, "/"), status_code=303)
    keep_theme(request, response, body.theme)
    return response
