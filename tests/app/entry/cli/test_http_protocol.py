"""Requests that do not arrive end, and any number of them leaves room for one that does."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import uvicorn

from app.entry.cli import http_protocol
from app.entry.cli.http_protocol import BoundedProtocol

pytestmark = pytest.mark.anyio
START = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
WHOLE = START + b"\r\n"


async def read_body(scope, receive, send) -> None:
    """An application that reads the whole body, and ends when the client does."""
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    server = uvicorn.Server(
        uvicorn.Config(read_body, http=BoundedProtocol, port=0, lifespan="off", log_config=None, timeout_keep_alive=60)
    )
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(60):
        while not server.started:
            await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


async def send(port: int, *parts: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for part in parts:
        writer.write(part)
        await writer.drain()
    return reader, writer


async def end_of(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(60):
        return await reader.read()


@pytest.mark.parametrize("sent", [b"", b"G", START])
async def test_headers_that_do_not_end_are_not_waited_for(port, monkeypatch, sent):
    monkeypatch.setattr(http_protocol, "HEADERS_S", 0.2)
    reader, writer = await send(port, sent)
    assert (await end_of(reader))[:13] == (b"HTTP/1.1 408 " if sent else b"")
    writer.close()


async def test_a_byte_now_and_then_gives_no_more_time(port, monkeypatch):
    monkeypatch.setattr(http_protocol, "HEADERS_S", 0.4)
    reader, writer = await send(port, START)

    async def drip() -> None:
        while not reader.at_eof():
            writer.write(b"X-Header: x\r\n")
            await asyncio.sleep(0.05)

    dripping = asyncio.create_task(drip())
    assert (await end_of(reader)).startswith(b"HTTP/1.1 408 ")
    dripping.cancel()
    writer.close()


async def test_a_later_request_of_a_connection_has_the_same_limit(port, monkeypatch):
    reader, writer = await send(port, WHOLE)
    assert b"204" in await reader.readuntil(b"\r\n\r\n")
    monkeypatch.setattr(http_protocol, "HEADERS_S", 0.2)
    # The time between two requests is not limited here: it is longer than another connection has for its headers.
    other, others_writer = await send(port, START)
    assert (await end_of(other)).startswith(b"HTTP/1.1 408 ")
    others_writer.close()
    writer.write(WHOLE)
    assert b"204" in await reader.readuntil(b"\r\n\r\n")
    writer.write(START)
    assert (await end_of(reader)).startswith(b"HTTP/1.1 408 ")
    writer.close()


async def test_a_body_that_does_not_end_is_not_waited_for(port, monkeypatch):
    monkeypatch.setattr(http_protocol, "BODY_S", 0.2)
    monkeypatch.setattr(http_protocol, "HEADERS_S", 0.1)
    reader, writer = await send(port, START + b"Content-Length: 5\r\n\r\n", b"ab")
    assert await end_of(reader) == b""
    writer.close()
    # More time than the headers have.
    monkeypatch.setattr(http_protocol, "BODY_S", 60.0)
    reader, writer = await send(port, START + b"Content-Length: 5\r\n\r\n", b"ab", b"cde")
    assert b"204" in await reader.readuntil(b"\r\n\r\n")
    writer.close()


async def test_unfinished_headers_leave_room_for_others(port, monkeypatch):
    monkeypatch.setattr(http_protocol, "MOST_UNFINISHED", 20)
    held = [await send(port, START) for _ in range(60)]
    reader, writer = await send(port, WHOLE)
    async with asyncio.timeout(60):
        assert b"204" in await reader.readuntil(b"\r\n\r\n")
    assert len(BoundedProtocol._unfinished) <= 20
    assert (await end_of(held[0][0])).startswith(b"HTTP/1.1 408 ")
    for _, each in (*held, (reader, writer)):
        each.close()
