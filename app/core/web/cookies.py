"""The cookies that the service sets."""

from fastapi import Request
from starlette.responses import Response

from app.core.services import services_of
from app.core.settings import Settings

SESSION_COOKIE = "meshgrade_session"
# The form token of a browser without a session is derived from it.
FORM_COOKIE = "meshgrade_form"
# Which colours the reader chose.
THEME_COOKIE = "meshgrade_theme"
# In which time zone the reader wants to see moments.
ZONE_COOKIE = "meshgrade_zone"
# Which lessons a reader without an account marked as read.
LESSONS_COOKIE = "meshgrade_lessons"


def set_cookie(request: Request, response: Response, name: str, value: str, max_age_s: int | None = None) -> None:
    """Set a cookie for this site that scripts cannot read. Without an age, it lasts until the browser is closed."""
    response.set_cookie(
        name, value, max_age=max_age_s, httponly=True, samesite="lax", secure=is_https(request), path="/"
    )


def delete_cookie(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(name, httponly=True, samesite="lax", secure=is_https(request), path="/")


def is_https(request: Request) -> bool:
    return request.url.scheme == "https" or services_of(request)[Settings].is_https
