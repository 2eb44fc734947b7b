"""The address of a server, and whether a token may be sent to it."""

import ipaddress

import httpx

from app.core.start_errors import ServerAddressUnusable

DEFAULT = "http://127.0.0.1:8000"


def read_address(text: str) -> str:
    """`https://host[:port]`, one spelling for each server. Raises `ServerAddressUnusable`."""
    try:
        # Nothing in it is case-sensitive, and httpx knows the default port only for a lower-case scheme.
        url = httpx.URL(text.strip().lower())
    except httpx.InvalidURL:
        raise _unusable(text) from None
    if url.scheme not in ("http", "https") or not url.host or url.path not in ("", "/"):
        raise _unusable(text)
    if url.userinfo or url.query or url.fragment:
        raise _unusable(text)
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def require_safe(address: str, *, insecure: bool) -> None:
    """Raises `ServerAddressUnusable` if the network in between could read the token."""
    url = httpx.URL(address)
    if url.scheme == "http" and not insecure and not _is_loopback(url.host):
        raise ServerAddressUnusable(
            f"{address} uses plain HTTP, so anyone on the network could read your API token. It was not sent.",
            "Use the server's https:// address, or add --insecure if you trust the whole network.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unusable(text: str) -> ServerAddressUnusable:
    return ServerAddressUnusable(
        f"{text[:200]!r} is not the address of a server.",
        f"Write it like https://grader.example.org, or {DEFAULT} for this machine, without a path or user name.",
    )
