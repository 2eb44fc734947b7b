"""Send to an address that a user chose, and never into the network that the service itself stands in.

The address is looked up once and connected to as found: a name that answers differently the second time gains nothing.
"""

import asyncio
import contextlib
import ipaddress
import re
import socket
import ssl
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import httpcore

from app.errors import WebhookURLRefused

# Names alone: hardly a number has a certificate. And the ports of HTTPS alone: the service is nobody's port scanner.
URL_PATTERN = (
    r"https://([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}(:443|:8443)?"
    r"(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?(\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?"
)
_TIMEOUT_S = 10.0
# Every block of IANA's registries of special-purpose addresses, and not Python's `is_global`, which knows those of its
# own release. Also what the registries call globally reachable: relays and sinks of DNS that no webhook lives behind.
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
# https://www.iana.org/assignments/iana-ipv6-special-registry: nothing outside of the first block is a host on the
# internet: loopback, unique and link-local addresses, IPv4 as such (::ffff:0:0/96) or behind NAT64 (64:ff9b::/96 and
# 64:ff9b:1::/48), discarded packets (100::/64, 100:0:0:1::/64), segment routing (5f00::/16) and multicast.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_SPECIAL_IPV6 = [
    ipaddress.IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, which holds an IPv4 address, benchmarks, ORCHID and others
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which holds an IPv4 address, perhaps a private one
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]


class AddressRefused(OSError):
    """The name stands for an address that webhooks are not sent to."""


def is_public(address: str) -> bool:
    """Whether `address` (IPv4 or IPv6, numeric) is a host's on the internet, and nothing near us or special."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _GLOBAL_UNICAST and not any(ip in block for block in _SPECIAL_IPV6)
    return not any(ip in block for block in _SPECIAL_IPV4)


def check_url(url: str, *, private: bool) -> None:
    """Refuse an address that could never be sent to. What its name stands for is looked up when something is sent.

    Raises:
      WebhookURLRefused.
    """
    if not private and not re.fullmatch(URL_PATTERN, url):
        raise WebhookURLRefused(
            "The address must be https://, a name with a dot in it (no number), perhaps :8443, and a path and query of "
            f"printable ASCII; no user name, no fragment. Got {url[:80]!r}."
        )
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise WebhookURLRefused(f"The address must be an http:// or https:// URL in ASCII. Got {url[:80]!r}.")


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
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # the codec of international names, about an empty or an overlong label
            raise socket.gaierror(f"{host[:80]!r} is no name") from error
        addresses = [str(each[4][0]) for each in found]
        # All of them: a name that stands for a public and a private address is a trap.
        if not self._private and (refused := [each for each in addresses if not is_public(each)]):
            raise AddressRefused(f"{host} stands for {refused[0]}, which is no address on the internet")
        # One after the other, as any client does: many names stand for an IPv6 address first that is not reached.
        for address in addresses[:-1]:
            with contextlib.suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._inner.connect_tcp(
                    address, port, _TIMEOUT_S / len(addresses), local_address, socket_options
                )
        return await self._inner.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def connect_unix_socket(self, path: str, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        raise AddressRefused("webhooks are sent by TCP")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class Outside:
    """Sends to the internet; with `private`, also to the network around the service and without TLS.

    Not httpx: it follows the environment's proxy settings, and a proxy would look the name up by itself.
    """

    def __init__(self, *, private: bool, tls: ssl.SSLContext | None = None) -> None:
        self.private = private
        self._tls = tls or ssl.create_default_context()

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> int:
        """Send; a redirect is not followed and what is answered is not read.

        Returns:
          the HTTP status.
        Raises:
          OSError, httpcore.NetworkError, httpcore.ProtocolError, TimeoutError: it did not arrive, or not for sure.
        """
        async with (
            asyncio.timeout(_TIMEOUT_S),
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls, network_backend=_OutsideBackend(private=self.private)
            ) as pool,
            pool.stream("POST", url, headers=list(headers.items()), content=body) as response,
        ):
            return int(response.status)
