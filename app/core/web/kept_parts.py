"""Parts of pages that many readers get alike: rendered once, and kept with their compressed bytes.

A template writes `{% kept KEY %}…{% endkept %}`. The key must have everything that the part depends on, because anyone
who asks for a page with an equal key gets the same text: never a form's token, and nothing of one reader. With the key
`none`, a part is not kept.

A compressed page is one gzip stream. Each kept part was compressed by itself and ends where a byte ends, so it can be
copied into any stream. What is between the parts is compressed for each response.
"""

import zlib
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from markupsafe import Markup
from starlette.responses import HTMLResponse
from starlette.types import Message, Receive, Scope, Send

# The key of a message that has the parts of its body.
PARTS = "meshgrade.parts"
# Characters of all kept parts together. A page of a problem has about 40,000.
_MOST_CHARS = 16_000_000
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# Level 9 is for what is compressed once. For the rest of a page, 5 takes up to twice as long as 3 and saves up to 7 %.
_ONCE, _EACH_TIME = 9, 3


class KeptPart(Markup):
    """A part with its bytes."""

    @cached_property
    def plain(self) -> bytes:
        return self.encode()

    @cached_property
    def deflated(self) -> bytes:
        packer = _packer(_ONCE)
        return packer.compress(self.plain) + packer.flush(zlib.Z_FULL_FLUSH)


class KeptParts(Extension):
    """The tag `kept`. The parts of all templates of an environment."""

    tags = {"kept"}  # noqa: RUF012 (Jinja declares it as an attribute of each object)

    def __init__(self, environment: object) -> None:
        super().__init__(environment)  # type: ignore[arg-type]
        self._kept: dict[Hashable, KeptPart] = {}
        self._chars = 0

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        key = parser.parse_expression()
        body = parser.parse_statements(("name:endkept",), drop_needle=True)
        place = nodes.Const(f"{parser.name}:{line}")
        return nodes.CallBlock(self.call_method("_keep", [place, key]), [], [], body).set_lineno(line)

    def _keep(self, place: str, key: Hashable, caller: Callable[[], str]) -> str:
        if key is None:
            return caller()
        whole = place, key
        found = self._kept.pop(whole, None)
        if found is None:
            found = KeptPart(caller())
            self._chars += len(found)
            while self._kept and self._chars > _MOST_CHARS:
                # The one that was not used for the longest time.
                self._chars -= len(self._kept.pop(next(iter(self._kept))))
        self._kept[whole] = found
        return found


class PageResponse(HTMLResponse):
    """A page of the pieces that a template yields. The layers around it get the parts of the body."""

    def __init__(self, pieces: Iterable[str], status_code: int = 200, headers: dict[str, str] | None = None) -> None:
        self.parts = _joined(pieces)
        super().__init__(b"".join(plain_of(each) for each in self.parts), status_code, headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_parts(message: Message) -> None:
            await send({**message, PARTS: self.parts} if message["type"] == "http.response.body" else message)

        await super().__call__(scope, receive, send_parts)


def plain_of(part: bytes | KeptPart) -> bytes:
    return part.plain if isinstance(part, KeptPart) else part


def gzip_parts(parts: Iterable[bytes | KeptPart]) -> bytes:
    """One gzip stream of all parts."""
    packer = _packer(_EACH_TIME)
    written, checksum, size = [_HEADER], 0, 0
    for part in parts:
        plain = plain_of(part)
        checksum, size = zlib.crc32(plain, checksum), size + len(plain)
        if isinstance(part, KeptPart):
            written.append(part.deflated)
        else:
            # The packer forgets what it has read: its distances would be wrong beyond a kept part.
            written += (packer.compress(part), packer.flush(zlib.Z_FULL_FLUSH))
    written.append(packer.flush(zlib.Z_FINISH))
    return b"".join((*written, checksum.to_bytes(4, "little"), (size & 0xFFFFFFFF).to_bytes(4, "little")))


def _packer(level: int) -> "zlib._Compress":
    return zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)


def _joined(pieces: Iterable[str]) -> list[bytes | KeptPart]:
    """The pieces, with everything that is not kept joined to as few parts as possible."""
    parts: list[bytes | KeptPart] = []
    others: list[str] = []
    for each in pieces:
        if isinstance(each, KeptPart):
            if others:
                parts.append("".join(others).encode())
            parts.append(each)
            others = []
        else:
            others.append(each)
    return [*parts, "".join(others).encode()]
