"""Deprecated operations of REST, announced in each response and in OpenAPI for long enough: see docs/rest.md.

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
    """A deprecated operation. It works as before until `ends`. The next release after that removes it.

    Args:
      since: midnight UTC of the day on which it was deprecated.
      instead: the documentation of its replacement: a path of this site, or an address.
    Raises:
      ValueError: there is less than half a year between the two.
    """

    since: datetime
    ends: datetime
    instead: str

    def __post_init__(self) -> None:
        if self.ends - self.since < LEAST_NOTICE:
            raise ValueError(f"an operation is deprecated for at least {LEAST_NOTICE.days} days before it is removed")

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.ends.astimezone(UTC), usegmt=True),
            "Link": f'<{self.instead}>; rel="deprecation"',
        }


_VALIDATIONS = Deprecation(datetime(2026, 11, 22, tzinfo=UTC), datetime(2027, 8, 2, tzinfo=UTC), "/openapi.json")
# By operation id. The summary of each names its replacement.
DEPRECATED: dict[str, Deprecation] = dict.fromkeys(("check_package", "get_check", "list_checks"), _VALIDATIONS)


class DeprecationHeaders:
    """ASGI wrapper: every response of a deprecated operation says so, even an error."""

    def __init__(self, app: ASGIApp, deprecated: dict[str, Deprecation]) -> None:
        self.app = app
        self._deprecated = deprecated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The router adds the route to this scope.
                deprecation = self._deprecated.get(getattr(scope.get("route"), "name", ""))
                if deprecation is not None:
                    headers = MutableHeaders(scope=message)
                    for name, value in deprecation.headers.items():
                        headers.append(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def add_deprecation_headers(app: FastAPI) -> None:
    if DEPRECATED:
        app.add_middleware(DeprecationHeaders, deprecated=DEPRECATED)


def describe_deprecations(paths: dict[str, Any]) -> None:
    """Mark deprecated operations in the OpenAPI document."""
    for operations in paths.values():
        for operation in operations.values():
            if deprecation := DEPRECATED.get(operation["operationId"]):
                operation["deprecated"] = True
                notice = f"Deprecated. It works until {deprecation.ends:%Y-%m-%d}. See {deprecation.instead}."
                operation["description"] = f"{operation.get('description', '')}\n\n{notice}".strip()
                for response in operation["responses"].values():
                    for name, example in deprecation.headers.items():
                        response.setdefault("headers", {})[name] = {"schema": {"type": "string"}, "example": example}
