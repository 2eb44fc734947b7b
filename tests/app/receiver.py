"""A receiver on this machine that stores each delivery and answers as the test says."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Receiver:
    url: str = ""
    status: str = "200 OK"
    silent: bool = False
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *rest = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in rest)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.got.append((line, headers, body))
        if not self.silent:
            extra = f"Location: {self.url}/elsewhere\r\n" if self.status.startswith("3") else ""
            writer.write(f"HTTP/1.1 {self.status}\r\n{extra}Content-Length: 2\r\n\r\nok".encode())
            await writer.drain()
        writer.close()


@asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    async with server:
        yield receiver
