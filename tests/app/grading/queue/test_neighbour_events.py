"""A change in one API process reaches who waits in another, and a queue that does not grade wakes the one that does."""

import asyncio
import socket
from dataclasses import replace

import pytest

from app.core.neighbours import Neighbours
from app.grading.queue.events import Change
from app.grading.queue.judge_of_neighbour import JudgeOfNeighbour, serve_neighbours
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.neighbour_events import NeighbourEvents
from app.grading.queue.preparation import Preparation
from app.grading.queue.walls import Walls
from grader.sandbox.pool import PoolStats
from grader.sandbox.retry_backoff import Setback
from tests.app.conftest import WallState

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
    changes = [Change("running", "x" * 5000), Change("running", None, partial=True), Change("finished", None)]
    with there.subscribe("a", "ada") as waiting, there.subscribe("b", "ada") as another:
        for each in changes:
            here.publish("a", each)
        received = [await waiting.next(60) for _ in changes]
        assert received == [Change("running", "x" * 200), *changes[1:]]
        there.send("b", changes[-1])
        assert await another.next(60) == changes[-1]


async def test_a_process_knows_the_judge_beside_it_and_asks_it_to_warm_what_is_opened(pair, package):
    first, second = pair
    warmed: asyncio.Queue[object] = asyncio.Queue()
    preparing = Preparation(frozenset({"a"}), 3, 1, {"b": "compiling"}, (Setback("c", 2, "x" * 9000, 1.5),), True)
    stats = PoolStats(True, 2, {package.version: 3}, 4, (5, 6), 7, 8, preparing.setbacks)
    walls, walls_there = Walls(lambda: [WallState(up=False)]), Walls.elsewhere()
    judge = LocalJudge(warmed.put_nowait, lambda: preparing, lambda: stats)
    telling = serve_neighbours(first, judge, walls, {package.version: package}.get)
    there = JudgeOfNeighbour(second, walls_there)
    assert (there.preparation(), there.pool_stats(), walls_there.are_up) == (None, None, True)
    walls.probe()
    await telling.step()
    while walls_there.are_up:
        await asyncio.sleep(0)
    cut = (replace(preparing.setbacks[0], why="x" * 500),)
    assert there.preparation() == replace(preparing, setbacks=cut)
    assert there.pool_stats() == replace(stats, pids=(), setbacks=cut)
    assert (walls_there.missing, walls_there.states) == (walls.missing, walls.states)
    there.warm(package)
    assert await warmed.get() is package
    there._heard_at -= 60
    assert (there.preparation(), there.pool_stats()) == (None, None)
