"""The address of a server, and whether a token may travel to it."""

import ipaddress

import httpx

from app.start_errors import ServerAddressUnusable

DEFAULT = "http://127.0.0.1:8000"


def read_address(text: str) -> str:
    """`https://host[:port]`, one spelling for each server. Raises `ServerAddressUnusable`."""
    try:
        # Nothing in it is case sensitive, and httpx knows the default port of a lower case scheme alone.
        url = httpx.URL(text.strip().lower())
    except httpx.InvalidURL:
        raise _unusable(text) from None
    if url.scheme not in ("http", "https") or not url.host or url.path not in ("", "/"):
        raise _unusable(text)
    if url.userinfo or url.query or url.fragment:
        raise _unusable(text)
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def require_safe(address: str, *, insecure: bool) -> None:
    """Raises `ServerAddressUnusable` where the network in between could read the token."""
    url = httpx.URL(address)
    if url.scheme == "http" and not insecure and not _is_loopback(url.host):
        raise ServerAddressUnusable(
            f"{address} is plain http: everybody on the way there could read your API token, so it is not sent.",
            "Use the https:// address of the server. Where you trust the whole network: --insecure.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unusable(text: str) -> ServerAddressUnusable:
    return ServerAddressUnusable(
        f"{text[:200]!r} is no address of a server.",
        f"Give it as https://grader.example.org, or {DEFAULT} for one on this machine: no path, no user name.",
    )
