"""Turns every error into a response: problem+json for programs, a page for people."""

import contextlib
import logging
import re
from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match

from app.core.database import UNAVAILABLE, NoConnectionFree, why_not_written
from app.core.errors import (
    DatabaseBusy,
    FieldInvalid,
    FieldMissing,
    InternalError,
    MethodNotAllowed,
    PathNotFound,
    Refused,
    RequestRefused,
    ServerBusy,
    SignInAgain,
)
from app.core.ids import is_id
from app.core.rest.problem_json import MEDIA_TYPE, problem_content
from app.core.web.templating import render_page

log = logging.getLogger(__name__)
_TRY_AGAIN = "Please try again. The operator can find the cause in the log."


Reader = Callable[[Request], Awaitable[object | None]]


def add_error_responses(app: FastAPI, reader: Reader) -> None:
    """Handle every error from now on. `reader` returns the signed-in user, for the head of a page."""
    answers = _Answers(reader)
    app.add_exception_handler(Refused, answers.refused)
    app.add_exception_handler(HTTPException, answers.http)
    app.add_exception_handler(RequestValidationError, answers.validation)
    for unavailable in UNAVAILABLE:
        app.add_exception_handler(unavailable, answers.database)
    app.add_exception_handler(Exception, answers.unforeseen)


def _words_in(path: str) -> str:
    """What a reader who found nothing at this path may search for: the words of its last part, unless it is an id."""
    last = path.rstrip("/").rpartition("/")[2]
    return "" if is_id(last) else " ".join(re.findall(r"[A-Za-z0-9_]+", last[:100]))


class _Answers:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def _respond(self, request: Request, refusal: Refused) -> Response:
        """Render `refusal` in the form that the client accepts."""
        if _wants_page(request):
            if isinstance(refusal, SignInAgain):
                return RedirectResponse(f"/sign-in/again?{urlencode({'next': refusal.back})}", status_code=303)
            page = render_page(
                "core/error.html",
                status_code=refusal.status,
                # It would wait for what has just failed.
                user=None if isinstance(refusal, DatabaseBusy | ServerBusy) else await self._who(request),
                status=refusal.status,
                title=refusal.title,
                detail=refusal.on_page,
                slug=refusal.slug,
                sought=_words_in(request.url.path),
            )
            page.headers.update(refusal.headers)
            return page
        return JSONResponse(
            problem_content(refusal), status_code=refusal.status, headers=refusal.headers, media_type=MEDIA_TYPE
        )

    async def refused(self, request: Request, error: Exception) -> Response:
        return await self._respond(request, cast(Refused, error))

    async def http(self, request: Request, error: Exception) -> Response:
        """An error that the framework itself raised."""
        raised = cast(HTTPException, error)
        headers = dict(raised.headers or {})
        path = request.url.path[:200]
        if raised.status_code == 404:
            return await self._respond(request, PathNotFound(f"There is nothing at {path!r}.", headers=headers))
        if raised.status_code == 405:
            headers["Allow"] = ", ".join(sorted(_methods_at(request)))
            detail = f"{path!r} does not support {request.method[:20]}. It supports: {headers['Allow']}."
            return await self._respond(request, MethodNotAllowed(detail, headers=headers))
        if raised.status_code < 500:
            return await self._respond(request, RequestRefused(str(raised.detail)[:500], headers=headers))
        return await self._respond(request, InternalError(_TRY_AGAIN))

    async def validation(self, request: Request, error: Exception) -> Response:
        """A path or query parameter is wrong. (app/core/rest/body.py reads bodies.)"""
        faults = cast(RequestValidationError, error).errors()
        # loc is ("query", name), and the message repeats the first part in words.
        errors = [
            {"field": ".".join(str(step)[:64] for step in each["loc"][1:]), "message": each["msg"]} for each in faults
        ]
        detail = "; ".join(f"{each['field']}: {each['message']}" for each in errors)
        kind = FieldMissing if all(each["type"] == "missing" for each in faults) else FieldInvalid
        return await self._respond(request, kind(f"{detail}.", errors=errors))

    async def database(self, request: Request, error: Exception) -> Response:
        """Nothing was stored, so retrying is safe."""
        if isinstance(error, NoConnectionFree):
            log.error(
                "a request was refused because all database connections of this process were in use "
                "(MESHGRADE_DATABASE_CONNECTIONS); the database itself may be idle"
            )
            busy = "More people use the service than it can serve at once. Nothing was stored. Please try again."
            return await self._respond(request, ServerBusy(busy, headers={"Retry-After": "5"}))
        why = why_not_written(error) if isinstance(error, SQLAlchemyError) else "it does not respond"
        log.error("the database failed (%s): %s", why, error.orig if isinstance(error, DBAPIError) else error)
        detail = "Nothing was stored. Please try again in a moment. The operator can find the cause in the log."
        return await self._respond(request, DatabaseBusy(detail, headers={"Retry-After": "5"}))

    async def unforeseen(self, request: Request, error: Exception) -> Response:
        # Starlette raises it again for the server to log with its traceback. The client learns nothing about it.
        return await self._respond(request, InternalError(_TRY_AGAIN))

    async def _who(self, request: Request) -> object | None:
        # A failure here must not replace the error that is being reported, which may be the database itself.
        with contextlib.suppress(Exception):
            return await self._reader(request)
        return None


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def _methods_at(request: Request) -> set[str]:
    """The methods of all routes at the request's path. The framework only names those of the first route.

    If some routes name the path as it is, such as /courses/join, routes that would read a part of it as a parameter do
    not count.
    """
    named: set[str] = set()
    methods: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        if route.matches(request.scope)[0] is not Match.NONE:
            of_route = getattr(route, "methods", None) or set()
            methods |= of_route
            if getattr(route, "path", None) == request.url.path:
                named |= of_route
    return named or methods
