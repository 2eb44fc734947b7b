"""A lightweight HTTP client, so that many of them do not slow down the server that they measure."""

import asyncio
import json
from typing import Any, Self


class Connection:
    """One kept-alive HTTP/1.1 connection; one request at a time.

    `retry_after_s` is what the last response asked for; None if it did not.
    """

    retry_after_s: float | None = None

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._host, self._port = host, int(port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        self._streams = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._streams
        self._streams[1].close()

    async def reopen(self) -> None:
        """Connect again: the server closes a connection without requests after some seconds."""
        await self.__aexit__()
        await self.__aenter__()

    async def ask(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: Any = None
    ) -> tuple[int, bytes]:
        """Send a request, with `body` as JSON unless it is None. Returns the status and the body of the response."""
        assert self._streams
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        sent = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        self.retry_after_s = float(sent["retry-after"]) if "retry-after" in sent else None
        return int(head.split(" ", 2)[1]), await reader.readexactly(int(sent["content-length"]))
