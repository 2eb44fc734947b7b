"""A background loop runs until it is cancelled. It pauses only after a step that fails or finds no work."""

import asyncio

import pytest

from app.core.background_loop import Activity, Loop

pytestmark = pytest.mark.anyio


async def test_a_loop_pauses_when_it_finds_nothing_and_when_a_step_fails(monkeypatch, caplog):
    left, pauses, ended = [2, 1, 0, ZeroDivisionError("busy"), 1], [], asyncio.Event()

    async def step() -> int:
        if not left:
            ended.set()
            await asyncio.Event().wait()
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def pause(seconds: float) -> None:
        pauses.append((seconds, len(left)))

    monkeypatch.setattr("app.core.background_loop.sleep", pause)
    task = asyncio.create_task(Loop("counting", step, pause_s=7.0).run())
    await asyncio.wait_for(ended.wait(), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert pauses == [(7.0, 2), (7.0, 1)]
    assert "counting failed; trying again in 7 s" in caplog.text


@pytest.mark.parametrize("is_handled", [True, False], ids=["returns", "raises"])
async def test_a_loop_ends_although_a_library_turns_its_cancellation_into_an_error(is_handled):
    began = asyncio.Event()

    async def step() -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not is_handled:
                raise OSError("the connection is lost") from None

    task = asyncio.create_task(Loop("listening", step).run())
    await asyncio.wait_for(began.wait(), 60)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=60)
    assert done
    assert task.cancelled()


async def test_what_a_step_left_running_is_ended_with_the_loop():
    began, ended = asyncio.Event(), []

    async def step() -> None:
        began.set()

    async def end() -> None:
        ended.append("ended")

    task = asyncio.create_task(Loop("counting", step, end=end).run())
    await asyncio.wait_for(began.wait(), 60)
    assert ended == []
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert ended == ["ended"]


async def rests(loop: Loop, monkeypatch, until: int, then=lambda number: None) -> list[float]:
    """How long the loop rests after each step, all parts of a rest together, for this many steps."""
    slept, ended = [[]], asyncio.Event()
    step = loop.step

    async def counted() -> int | None:
        if slept[-1]:
            slept.append([])
        if len(slept) > until:
            ended.set()
            await asyncio.Event().wait()
        then(len(slept))
        return await step()

    async def pause(seconds: float) -> None:
        slept[-1].append(seconds)

    monkeypatch.setattr("app.core.background_loop.sleep", pause)
    loop.step = counted
    task = asyncio.create_task(loop.run())
    await asyncio.wait_for(ended.wait(), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return [sum(each) for each in slept[:until]]


async def nothing() -> int:
    return 0


async def test_a_loop_without_work_rests_longer_and_longer_up_to_a_limit(monkeypatch):
    loop = Loop("waiting", nothing, pause_s=2.0, idle_pause_s=10.0)
    assert await rests(loop, monkeypatch, 5) == [2.0, 4.0, 8.0, 10.0, 10.0]
    assert await rests(Loop("waiting", nothing, pause_s=2.0), monkeypatch, 3) == [2.0, 2.0, 2.0]


async def test_news_shorten_the_next_rest_but_never_below_the_pause(monkeypatch):
    loop = Loop("waiting", nothing, pause_s=2.0, idle_pause_s=60.0)
    activity = Activity()
    activity.watch(loop)
    # During the step: what it has read may be out of date.
    found = await rests(loop, monkeypatch, 6, lambda number: activity.note() if number == 4 else None)
    assert found == [2.0, 4.0, 8.0, 2.0, 2.0, 4.0]


async def test_work_makes_a_loop_quick_again(monkeypatch):
    left, slept, ended = [0, 0, 0, 1, 0, 0], [], asyncio.Event()

    async def step() -> int:
        if not left:
            ended.set()
            await asyncio.Event().wait()
        return left.pop(0)

    async def pause(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("app.core.background_loop.sleep", pause)
    task = asyncio.create_task(Loop("working", step, pause_s=2.0, idle_pause_s=60.0).run())
    await asyncio.wait_for(ended.wait(), 60)
    task.cancel()
    assert sum(slept) == 2 + 4 + 8 + 2 + 4


async def test_news_end_a_long_rest(monkeypatch):
    steps, rests_long = asyncio.Queue(), asyncio.Event()

    async def pause(seconds: float) -> None:
        if seconds > 1:
            rests_long.set()
            await asyncio.Event().wait()

    monkeypatch.setattr("app.core.background_loop.sleep", pause)

    async def step() -> int:
        steps.put_nowait(None)
        return 0

    loop = Loop("resting", step, pause_s=1.0, idle_pause_s=3600.0)
    task = asyncio.create_task(loop.run())
    try:
        await asyncio.wait_for(rests_long.wait(), 60)
        while not steps.empty():
            steps.get_nowait()
        loop.hurry()
        await asyncio.wait_for(steps.get(), 60)
    finally:
        task.cancel()
