"""ETags of what is sent unchanged over REST, and how its description names them.

A list is read for each request, so its 304 saves the transfer and the client's work, and the service little.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from starlette.responses import Response

from app.core.web.etags import is_known, not_modified, tag_of

# Read by hand: in FastAPI, resolving parameters takes as long as all the rest of a short response.
IF_NONE_MATCH: dict[str, Any] = {
    "parameters": [
        {
            "name": "if-none-match",
            "in": "header",
            "required": False,
            "schema": {"type": "string"},
            "description": "ETags of responses that you have. The response is 304 if one is still current.",
        }
    ]
}
WITH_ETAG: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": {"schema": {"type": "string"}, "description": "Changes when the content changes"}}},
    304: {"description": "One of the ETags in If-None-Match is still current. There is no body."},
}
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def unless_known(request: Request, response: Response, etag: str, *, is_own: bool) -> Response:
    """This response, or 304. `is_own` if others who send the same request may get another response."""
    # no-cache: clients may store it, but must ask each time.
    headers = {"ETag": etag, "Cache-Control": "private, no-cache" if is_own else "no-cache"}
    if is_known(etag, request.headers.get("if-none-match", "")):
        return not_modified(headers)
    response.headers.update(headers)
    return response


def tagged(handle: _Handler) -> _Handler:
    """The handler of a route that responds with a list."""

    async def handle_with_tag(request: Request) -> Response:
        response = await handle(request)
        if response.status_code != 200:
            return response
        return unless_known(request, response, tag_of(bytes(response.body)), is_own=True)

    return handle_with_tag
