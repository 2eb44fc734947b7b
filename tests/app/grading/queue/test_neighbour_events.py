"""A change in one API process reaches who waits in another, and a queue that does not grade wakes the one that does."""

import asyncio
import socket

import pytest

from app.core.neighbours import Neighbours
from app.grading.queue.events import Change
from app.grading.queue.local_judge import warm_at, warm_for
from app.grading.queue.neighbour_events import NeighbourEvents

pytestmark = pytest.mark.anyio


@pytest.fixture
async def pair():
    """The first process and the second, which exchange messages."""
    pair = Neighbours(), Neighbours(2)
    tasks = [asyncio.create_task(each.talk(sock)) for each, sock in zip(pair, socket.socketpair(), strict=True)]
    while not all(each._writers for each in pair):
        await asyncio.sleep(0)
    yield pair
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_change_reaches_who_waits_in_the_other_process(pair):
    here, there = (NeighbourEvents(each) for each in pair)
    changes = [Change("running", "x" * 5000), Change("running", None), Change("finished", None)]
    with there.subscribe("a", "ada") as waiting, there.subscribe("b", "ada") as another:
        for each in changes:
            here.publish("a", each)
        received = [await waiting.next(60) for _ in changes]
        assert received == [Change("running", "x" * 200), *changes[1:]]
        there.send("b", changes[-1])
        assert await another.next(60) == changes[-1]


async def test_the_process_that_grades_warms_what_is_opened_in_the_other(pair, package):
    first, second = pair
    warmed: asyncio.Queue[object] = asyncio.Queue()
    warm_for(first, warmed.put_nowait, {package.version: package}.get)
    warm_at(second)(package)
    assert await warmed.get() is package
