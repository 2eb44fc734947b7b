"""Refuses requests whose Host header names a machine that the service is not.

A page of another site can point its own name at this service (DNS rebinding). A browser then takes the two for one
site, and sends the page's requests with the page's name as Host and Origin. Nobody can point an address anywhere,
so a Host header with an address instead of a name is always permitted.
"""

import re
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from app.core.errors import HostUnknown
from app.core.ip_addresses import is_ip_address
from app.core.rest.problem_json import MEDIA_TYPE, problem_content
from app.core.settings import Settings
from app.core.web.sent_headers import SentHeaders

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?")
# For probes and Prometheus, which use whatever name the cluster gives. None of them acts for a user.
_OF_MACHINES = frozenset({"/healthz", "/readyz", "/metrics"})


class Hosts:
    """The names that the service has."""

    def __init__(self, settings: Settings) -> None:
        self._names = known_names(settings)

    def admits(self, scope: Scope, sent: SentHeaders) -> bool:
        """Whether a request names a host that the service is."""
        hosts = sent.all(b"host")
        if scope["path"] in _OF_MACHINES or not hosts:
            # HTTP/1.1 requires exactly one host. A client that sends none is not a browser.
            return True
        name = name_in(hosts[0].decode("latin-1"))
        return len(hosts) == 1 and (name in self._names or is_ip_address(name))


def unknown_host() -> Response:
    """The response to a request that was not admitted."""
    refusal = HostUnknown(
        "This service does not have the name in the Host header. Operators: set MESHGRADE_PUBLIC_URL to the "
        "address that browsers use, and have the proxy pass the Host header on."
    )
    return JSONResponse(problem_content(refusal), status_code=refusal.status, media_type=MEDIA_TYPE)


def known_names(settings: Settings) -> frozenset[str]:
    """The names under which browsers may reach the service, in lower case."""
    public = urlsplit(settings.public_url or "").hostname
    return frozenset({"localhost", settings.host.lower(), *([public.lower()] if public else [])}) - {""}


def name_in(host: str) -> str:
    """The name or address in a Host header, without the port, in lower case; empty if it is neither."""
    found = _HOST.fullmatch(host.lower())
    return found.group(1).strip("[]").removesuffix(".") if found else ""
