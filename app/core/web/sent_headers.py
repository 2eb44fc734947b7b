"""The headers of a request, by name: read once for all that looks at them before the route does."""

from collections.abc import Iterable
from functools import cached_property

from starlette.requests import cookie_parser


class SentHeaders:
    """The values of each header in the order in which they were sent."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            self._values.setdefault(name, []).append(value)

    def __contains__(self, name: bytes) -> bool:
        return name in self._values

    def all(self, name: bytes) -> list[bytes]:
        return self._values.get(name, [])

    def first(self, name: bytes) -> str:
        """Its first value; empty without one."""
        values = self._values.get(name)
        return values[0].decode("latin-1") if values else ""

    @cached_property
    def cookies(self) -> dict[str, str]:
        """As `Request.cookies` has them."""
        found: dict[str, str] = {}
        for header in self.all(b"cookie"):
            found.update(cookie_parser(header.decode("latin-1")))
        return found
