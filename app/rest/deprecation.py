"""What of the REST interface goes: told in every answer and in the OpenAPI document, and for long enough. docs/rest.md

`Deprecation`: https://www.rfc-editor.org/rfc/rfc9745, `Sunset`: https://www.rfc-editor.org/rfc/rfc8594
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_NOTICE = timedelta(days=183)


@dataclass(frozen=True, slots=True)
class Deprecation:
    """An operation that goes. It works as before until `ends`, and answers 404 from the release after that on.

    Args:
      since: when it was deprecated; midnight, UTC.
      instead: where the documentation says what to use: a path of this site, or an address.
    Raises:
      ValueError: less than half a year lies between the two.
    """

    since: datetime
    ends: datetime
    instead: str

    def __post_init__(self) -> None:
        if self.ends - self.since < LEAST_NOTICE:
            raise ValueError(f"an operation is deprecated for at least {LEAST_NOTICE.days} days before it goes")

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.ends.astimezone(UTC), usegmt=True),
            "Link": f'<{self.instead}>; rel="deprecation"',
        }


# By operation id. Empty: nothing of version 1 goes.
DEPRECATED: dict[str, Deprecation] = {}


class DeprecationHeaders:
    """ASGI wrapper: an answer of a deprecated operation says so, a refusal as well."""

    def __init__(self, app: ASGIApp, deprecated: dict[str, Deprecation]) -> None:
        self.app = app
        self._deprecated = deprecated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The router writes the route into the scope that it was given.
                found = self._deprecated.get(getattr(scope.get("route"), "name", ""))
                if found is not None:
                    headers = MutableHeaders(scope=message)
                    for name, value in found.headers.items():
                        headers.append(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def add_deprecation_headers(app: FastAPI) -> None:
    if DEPRECATED:
        app.add_middleware(DeprecationHeaders, deprecated=DEPRECATED)


def describe_deprecations(paths: dict[str, Any]) -> None:
    """Mark what goes in the OpenAPI document."""
    for operations in paths.values():
        for operation in operations.values():
            if found := DEPRECATED.get(operation["operationId"]):
                operation["deprecated"] = True
                told = f"Deprecated; works until {found.ends:%Y-%m-%d}. See {found.instead}."
                operation["description"] = f"{operation.get('description', '')}\n\n{told}".strip()
                for response in operation["responses"].values():
                    for name, example in found.headers.items():
                        response.setdefault("headers", {})[name] = {"schema": {"type": "string"}, "example": example}
