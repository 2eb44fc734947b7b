"""Sends to an address that a user chose, but never into the service's own network.

The name is resolved once and that address is used, so a name that resolves differently the second time gains nothing.
"""

import asyncio
import contextlib
import functools
import ipaddress
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpcore

from app.core.errors import WebhookURLRefused

# Only names, because numeric addresses hardly ever have a certificate. Only HTTPS ports, to prevent port scans.
URL_PATTERN = (
    r"https://([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}(:443|:8443)?"
    r"(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?(\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?"
)
_TIMEOUT_S = 10.0
# Every block of IANA's registries of special-purpose addresses. Not Python's `is_global`, which only knows the blocks
# of its release. This includes blocks that are globally reachable, such as relays and DNS sinks, which serve no
# webhooks.
# https://www.iana.org/assignments/iana-ipv4-special-registry
_SPECIAL_IPV4 = [
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by customers of one provider
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link local, and the metadata of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays, deprecated
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
]
# https://www.iana.org/assignments/iana-ipv6-special-registry: outside the first block there are no hosts on the
# internet, only loopback, unique and link-local addresses, mapped IPv4 (::ffff:0:0/96), NAT64 (64:ff9b::/96 and
# 64:ff9b:1::/48), discarded packets (100::/64, 100:0:0:1::/64), segment routing (5f00::/16) and multicast.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_SPECIAL_IPV6 = [
    ipaddress.IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, which contains an IPv4 address, benchmarks, ORCHID and others
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which contains an IPv4 address, perhaps a private one
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]


class AddressRefused(OSError):
    """The name resolves to an address that webhooks are not sent to."""


class ReplyTooLong(OSError):
    """A response is longer than anything that belongs there."""


# What `Outside` raises.
FAULTS = (
    OSError,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. The names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def is_public(address: str) -> bool:
    """Whether `address` (numeric, IPv4 or IPv6) belongs to a host on the internet, and is neither local nor special."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _GLOBAL_UNICAST and not any(ip in block for block in _SPECIAL_IPV6)
    return not any(ip in block for block in _SPECIAL_IPV4)


def check_url(url: str, *, private: bool) -> None:
    """Refuse an address that could never receive anything. Its name is resolved at each delivery.

    Raises:
      WebhookURLRefused.
    """
    if not private and not re.fullmatch(URL_PATTERN, url):
        raise WebhookURLRefused(
            "The address must be https:// with a host name that contains a dot (not a numeric address), optionally "
            f":8443, and a path and query in printable ASCII, without user name or fragment. Got {url[:80]!r}."
        )
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise WebhookURLRefused(f"The address must be an http:// or https:// URL in ASCII. Got {url[:80]!r}.")


async def addresses_of(host: str, port: int, *, private: bool) -> list[str]:
    """The numeric addresses of a name, to connect to instead of the name.

    Raises:
      OSError: it cannot be resolved.
      AddressRefused: one of them is not on the internet, and `private` is false.
    """
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # from the codec of international names, for an empty or overlong label
        raise socket.gaierror(f"{host[:80]!r} is not a host name") from error
    addresses = [str(each[4][0]) for each in entries]
    # All of them must be public: a name with a public and a private address is a trap.
    if not private and (refused := [each for each in addresses if not is_public(each)]):
        raise AddressRefused(f"{host} resolves to {refused[0]}, which is not an address on the internet")
    return addresses


class _OutsideBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await addresses_of(host, port, private=self._private)
        # One after the other, as any client does: many names first resolve to an IPv6 address that cannot be reached.
        for address in addresses[:-1]:
            with contextlib.suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._inner.connect_tcp(
                    address, port, _TIMEOUT_S / len(addresses), local_address, socket_options
                )
        return await self._inner.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def connect_unix_socket(self, path: str, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("webhooks are sent over TCP only")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


@functools.cache
def _public_authorities() -> ssl.SSLContext:
    """Read when something is first sent: that takes a quarter of the time in which a service starts."""
    return ssl.create_default_context()


class Outside:
    """Sends to the internet. With `private`, also sends into the service's own network and without TLS.

    Not httpx: it uses the environment's proxy settings, and a proxy would resolve the name itself.
    """

    def __init__(self, *, private: bool, tls: ssl.SSLContext | None = None) -> None:
        self.private = private
        self._tls = tls

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> int:
        """Send a request. Redirects are not followed, and the response's body is not read.

        Returns:
          the HTTP status.
        Raises:
          FAULTS: it did not arrive, or perhaps not.
        """
        async with self._open("POST", url, headers, body) as response:
            return int(response.status)

    async def fetch(
        self, method: str, url: str, headers: dict[str, str], body: bytes = b"", *, max_bytes: int = 1024 * 1024
    ) -> Reply:
        """Send a request and read the response. Redirects are not followed.

        Raises:
          FAULTS: as `post`; `ReplyTooLong` if the response has more than `max_bytes`.
        """
        async with self._open(method, url, headers, body) as response:
            content = bytearray()
            async for chunk in response.aiter_stream():
                content += chunk
                if len(content) > max_bytes:
                    raise ReplyTooLong(f"the response has more than {max_bytes} bytes")
            found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Reply(int(response.status), found, bytes(content))

    @contextlib.asynccontextmanager
    async def _open(
        self, method: str, url: str, headers: dict[str, str], body: bytes
    ) -> AsyncIterator[httpcore.Response]:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls or _public_authorities(), network_backend=_OutsideBackend(private=self.private)
            ) as pool,
            pool.stream(method, url, headers=list(headers.items()), content=body) as response,
        ):
            yield response
