"""The form in every page's header that chooses the theme."""

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from app.core.rest.routing import PageRouter
from app.core.web.cookies import THEME_COOKIE, delete_cookie, set_cookie
from app.core.web.forms import read_form
from app.core.web.next_page import own_page
from app.core.web.theme import read_theme

router = PageRouter()
_YEAR_S = 365 * 24 * 60 * 60


@router.post("/theme")
async def choose_theme(request: Request) -> Response:
    """Keep the choice in this browser, and go back to the page that it was made on."""
    form = await read_form(request)
    response = RedirectResponse(own_page(form.get("next", ""), "/"), status_code=303)
    theme = read_theme(form.get("theme", ""))
    if theme == "system":
        delete_cookie(request, response, THEME_COOKIE)
    else:
        set_cookie(request, response, THEME_COOKIE, theme, max_age_s=_YEAR_S)
    return response
