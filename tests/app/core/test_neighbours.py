"""Messages between API processes: what arrives, and what is left out without ending anything."""

import asyncio
import socket

import pytest

from app.core import neighbours as module
from app.core.neighbours import Neighbours

pytestmark = pytest.mark.anyio


class Process:
    """A process of a service, in this event loop. `heard` has what it received."""

    def __init__(self, number: int) -> None:
        self.neighbours = Neighbours(number)
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self.neighbours.on("news", lambda message: self.heard.put_nowait(message["of"]))


def started(first: Process, other: Process) -> list[asyncio.Task[None]]:
    pair = socket.socketpair()
    return [asyncio.create_task(each.neighbours.talk(sock)) for each, sock in zip((first, other), pair, strict=True)]


@pytest.fixture
async def talking():
    """The first process, two others, and their tasks, beginning with those of the second."""
    first, second, third = Process(1), Process(2), Process(3)
    tasks = [*started(first, second), *started(first, third)]
    await asyncio.sleep(0)
    while len(first.neighbours._writers) < 2 or not (second.neighbours._writers and third.neighbours._writers):
        await asyncio.sleep(0)
    yield first, second, third, tasks
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_every_other_process_hears_of_it_once(talking):
    *processes, _ = talking
    for sender in processes:
        sender.neighbours.send("news", of="it")
        for each in processes:
            if each is not sender:
                assert await each.heard.get() == "it"
    assert [each.heard.qsize() for each in processes] == [0, 0, 0]


async def test_one_that_ends_is_left_out_and_another_may_take_its_place(talking):
    first, _, third, tasks = talking
    tasks[1].cancel()
    await tasks[0]
    first.neighbours.send("news", of="the rest")
    assert await third.heard.get() == "the rest"
    fourth = Process(2)
    tasks += started(first, fourth)
    while not fourth.neighbours._writers:
        await asyncio.sleep(0)
    fourth.neighbours.send("news", of="the fourth")
    assert await first.heard.get() == await third.heard.get() == "the fourth"


@pytest.mark.parametrize(
    "garbage",
    [
        *(b"\n", b"\xff\n", b"7\n", b"[]\n", b"{}\n"),
        *(b'{"topic": "unknown"}\n', b'{"topic": []}\n', b'{"topic": "news"}\n'),
        *(b"x" * 10_000 + b"\n", b"x" * 100_000 + b"\n"),
    ],
)
async def test_what_cannot_be_understood_is_left_out_and_the_next_message_arrives(garbage):
    first, (ours, theirs) = Process(1), socket.socketpair()
    task = asyncio.create_task(first.neighbours.talk(ours))
    theirs.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(theirs, garbage + b'{"topic": "news", "of": "more"}\n')
    assert await first.heard.get() == "more"
    await asyncio.get_running_loop().sock_sendall(theirs, b'{"topic": "news"')
    theirs.close()
    await task
    assert first.heard.empty()


async def test_one_that_reads_nothing_costs_a_bounded_memory(monkeypatch):
    monkeypatch.setattr(module, "_MAX_UNREAD_BYTES", 1000)
    first, (ours, theirs) = Process(1), socket.socketpair()
    task = asyncio.create_task(first.neighbours.talk(ours))
    while not first.neighbours._writers:
        await asyncio.sleep(0)
    [writer] = first.neighbours._writers
    for _ in range(10_000):
        first.neighbours.send("news", of="x" * 100)
    assert 0 < writer.transport.get_write_buffer_size() < 1200
    theirs.close()
    await task
