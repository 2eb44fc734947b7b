"""The one place where an error becomes a response: problem+json for programs, a page for people."""

import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import DBAPIError, OperationalError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match

from app.errors import (
    DatabaseBusy,
    FieldInvalid,
    FieldMissing,
    InternalError,
    MethodNotAllowed,
    PathNotFound,
    Refused,
    RequestRefused,
    SignInAgain,
)
from app.rest.problem_json import MEDIA_TYPE, problem_content
from app.web.templating import render_page

log = logging.getLogger(__name__)


Reader = Callable[[Request], Awaitable[object | None]]


def add_error_responses(app: FastAPI, reader: Reader) -> None:
    """Answer every error from now on; `reader` says who is signed in, for the head of a page."""
    answers = _Answers(reader)
    app.add_exception_handler(Refused, answers.refused)
    app.add_exception_handler(HTTPException, answers.http)
    app.add_exception_handler(RequestValidationError, answers.validation)
    app.add_exception_handler(OperationalError, answers.database)
    app.add_exception_handler(Exception, answers.unforeseen)


class _Answers:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def _respond(self, request: Request, refused: Refused) -> Response:
        """Render `refused` as the client wants it."""
        if _wants_page(request):
            if isinstance(refused, SignInAgain):
                return RedirectResponse(f"/sign-in/again?{urlencode({'next': refused.back})}", status_code=303)
            page = render_page(
                "error.html",
                status_code=refused.status,
                user=await self._who(request),
                status=refused.status,
                title=refused.title,
                detail=str(refused),
                slug=refused.slug,
            )
            page.headers.update(refused.headers)
            return page
        return JSONResponse(
            problem_content(refused), status_code=refused.status, headers=refused.headers, media_type=MEDIA_TYPE
        )

    async def refused(self, request: Request, error: Exception) -> Response:
        return await self._respond(request, cast(Refused, error))

    async def http(self, request: Request, error: Exception) -> Response:
        """What the framework itself refuses."""
        raised = cast(HTTPException, error)
        headers = dict(raised.headers or {})
        path = request.url.path[:200]
        if raised.status_code == 404:
            return await self._respond(request, PathNotFound(f"There is nothing at {path!r}.", headers=headers))
        if raised.status_code == 405:
            headers["Allow"] = ", ".join(sorted(_methods_at(request)))
            detail = f"{request.method[:20]} is not possible at {path!r}. Possible: {headers['Allow']}."
            return await self._respond(request, MethodNotAllowed(detail, headers=headers))
        if raised.status_code < 500:
            return await self._respond(request, RequestRefused(str(raised.detail)[:500], headers=headers))
        return await self._respond(request, InternalError("Please try again; the operator finds the cause in the log."))

    async def validation(self, request: Request, error: Exception) -> Response:
        """A path or query parameter is wrong. (Bodies are read by app/rest/body.py.)"""
        faults = cast(RequestValidationError, error).errors()
        # loc is ("query", name): the first part says where, which the message repeats in words.
        errors = [
            {"field": ".".join(str(step)[:64] for step in each["loc"][1:]), "message": each["msg"]} for each in faults
        ]
        detail = "; ".join(f"{each['field']}: {each['message']}" for each in errors)
        kind = FieldMissing if all(each["type"] == "missing" for each in faults) else FieldInvalid
        return await self._respond(request, kind(f"{detail}.", errors=errors))

    async def database(self, request: Request, error: Exception) -> Response:
        """The database is locked by another program, out of space or gone. Nothing was stored: trying again is safe."""
        log.error("the database does not answer: %s", cast(DBAPIError, error).orig)
        detail = "Nothing was stored. Please try again in a moment; the operator finds the cause in the log."
        return await self._respond(request, DatabaseBusy(detail, headers={"Retry-After": "5"}))

    async def unforeseen(self, request: Request, error: Exception) -> Response:
        # Starlette raises it again for the server to log, with its traceback; the client learns nothing of it.
        return await self._respond(request, InternalError("Please try again; the operator finds the cause in the log."))

    async def _who(self, request: Request) -> object | None:
        # Whatever goes wrong here must not take the place of the error that is being told: the database may be that
        # error.
        with contextlib.suppress(Exception):
            return await self._reader(request)
        return None


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def _methods_at(request: Request) -> set[str]:
    """What the routes at the request's path take; the framework names the methods of the first of them alone."""
    found: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return found
