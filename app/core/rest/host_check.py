"""Refuses requests whose Host header names a machine that the service is not.

A page of another site can point its own name at this service (DNS rebinding). A browser then takes the two for one
site, and sends the page's requests with the page's name as Host and Origin. Nobody can point an address anywhere,
so a Host header with an address instead of a name is always permitted.
"""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.errors import HostUnknown
from app.core.ip_addresses import is_ip_address
from app.core.rest.problem_json import MEDIA_TYPE, problem_content
from app.core.settings import Settings

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?")
# For probes and Prometheus, which use whatever name the cluster gives. None of them acts for a user.
_OF_MACHINES = frozenset({"/healthz", "/readyz", "/metrics"})


class Hosts:
    """ASGI wrapper."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _OF_MACHINES or self._is_known(Headers(scope=scope)):
            return await self.app(scope, receive, send)
        refusal = HostUnknown(
            "This service does not have the name in the Host header. Operators: set MESHGRADE_PUBLIC_URL to the "
            "address that browsers use, and have the proxy pass the Host header on."
        )
        response = JSONResponse(problem_content(refusal), status_code=refusal.status, media_type=MEDIA_TYPE)
        await response(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            # HTTP/1.1 requires exactly one. A client that sends none is not a browser.
            return not hosts
        name = name_in(hosts[0])
        return name in self._names or is_ip_address(name)


def add_host_check(app: FastAPI, settings: Settings) -> None:
    """Call it before the layers whose headers a refusal must have."""
    build, names = app.build_middleware_stack, known_names(settings)
    app.build_middleware_stack = lambda: Hosts(build(), names)  # type: ignore[method-assign]


def known_names(settings: Settings) -> frozenset[str]:
    """The names under which browsers may reach the service, in lower case."""
    public = urlsplit(settings.public_url or "").hostname
    return frozenset({"localhost", settings.host.lower(), *([public.lower()] if public else [])}) - {""}


def name_in(host: str) -> str:
    """The name or address in a Host header, without the port, in lower case; empty if it is neither."""
    found = _HOST.fullmatch(host.lower())
    return found.group(1).strip("[]").removesuffix(".") if found else ""
