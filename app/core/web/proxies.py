"""Who sent a request: the client's address and scheme, as the proxies in front of the service report them.

Only the proxies that MESHGRADE_PROXIES names are believed. Each adds the address that it was reached from at the end of
X-Forwarded-For, so the client is the last one there that is not a proxy itself. What the client sent before it does not
count.
"""

import time
from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

from app.core.ip_addresses import is_ip_address
from app.core.web.sent_headers import SentHeaders

Networks = Sequence[IPv4Network | IPv6Network]

_WINDOW_S = 3600.0
# Fewer requests, or the requests of fewer programs, say nothing.
_ENOUGH = 20
_PROGRAMS = 3
_FORWARDED = (b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via")
# Machines request these, from other addresses than people.
_OF_MACHINES = frozenset({"/healthz", "/readyz", "/metrics"})


class Proxies:
    """Replaces `client` and `scheme` in the scope of a request."""

    def __init__(self, networks: Networks, clients: "Clients") -> None:
        self._networks = networks
        self._clients = clients

    def name_client(self, scope: Scope, sent: SentHeaders) -> None:
        peer, port = scope.get("client") or ("", 0)
        forwarded = sent.all(b"x-forwarded-for")
        addresses = b",".join(forwarded).decode("latin-1").split(",") if forwarded else []
        address, is_named = client_of(peer, addresses, self._networks)
        scope["client"] = (address, port if address == peer else 0)
        schemes = sent.all(b"x-forwarded-proto")
        if schemes and schemes[-1] in (b"http", b"https") and _is_in(peer, self._networks):
            scope["scheme"] = schemes[-1].decode()
        if scope["path"] not in _OF_MACHINES:
            is_forwarded = not is_named and any(name in sent for name in _FORWARDED)
            self._clients.saw(address, next(iter(sent.all(b"user-agent")), b""), is_forwarded=is_forwarded)


def client_of(peer: str, forwarded: Sequence[str], proxies: Networks) -> tuple[str, bool]:
    """The client's address, and whether every proxy that the headers show is one of ours.

    Args:
      peer: the other end of the connection.
      forwarded: the entries of X-Forwarded-For, in their order.
    """
    found, left = _plain(peer), list(forwarded)
    while left and _is_in(found, proxies):
        entry = _plain(left.pop())
        if not is_ip_address(entry):
            # A proxy of ours wrote `unknown`, or nothing.
            break
        found = entry
    return found, not left


def _plain(entry: str) -> str:
    """An entry without a port, and IPv4 as such even where IPv6 contains it."""
    entry = entry.strip()
    if entry.startswith("["):
        entry = entry[1:].partition("]")[0]
    elif entry.count(":") == 1:
        entry = entry.partition(":")[0]
    try:
        parsed = ip_address(entry)
    except ValueError:
        return entry
    return str((parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed)


def _is_in(address: str, networks: Networks) -> bool:
    return is_ip_address(address) and any(ip_address(address) in network for network in networks)


class Clients:
    """Notices that all clients seem to have one address, which then has the limits of one address for everybody.

    It looks so if at least 20 requests within an hour came from a single address, and either they passed a proxy that
    MESHGRADE_PROXIES does not name, or the service is behind a proxy (`is_public`) and at least three programs sent
    them. What a client claims in headers counts only for this line.

    Once noticed, it stays until requests came from several addresses for an hour without its being noticed again: one
    request past the proxy, such as an operator's own, shows nothing about the others.
    """

    def __init__(self, *, is_public: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_public = is_public
        self._clock = clock
        self._since = clock()
        self._noticed: str | None = None
        # Since when requests came from several addresses.
        self._untrue_since: float | None = None
        self._begin()

    def _begin(self) -> None:
        self._addresses: set[str] = set()
        self._programs: set[bytes] = set()
        self._requests = 0
        self._is_forwarded = False

    def saw(self, address: str, program: bytes, *, is_forwarded: bool) -> None:
        """Count a request. `is_forwarded`: it passed a proxy that is not one of ours."""
        if self._clock() - self._since > _WINDOW_S:
            self._since = self._clock()
            self._begin()
        self._requests += 1
        self._is_forwarded |= is_forwarded
        # More would only fill memory.
        if len(self._addresses) < 2:
            self._addresses.add(address)
        if len(self._programs) < _PROGRAMS:
            self._programs.add(program)
        self._conclude()

    def _conclude(self) -> None:
        if len(self._addresses) > 1:
            if self._untrue_since is None:
                self._untrue_since = self._clock()
        elif self._requests >= _ENOUGH and self._looks_shared():
            self._noticed, self._untrue_since = next(iter(self._addresses)), None

    def _looks_shared(self) -> bool:
        return self._is_forwarded or (self._is_public and len(self._programs) >= _PROGRAMS)

    @property
    def one_address(self) -> str | None:
        """The address that all clients seem to have; None if they do not."""
        if self._untrue_since is not None and self._clock() - self._untrue_since >= _WINDOW_S:
            return None
        return self._noticed
