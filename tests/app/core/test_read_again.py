"""A value that is read again after a pause, once for all requests."""

import asyncio

import pytest

from app.core.read_again import ReadAgain

pytestmark = pytest.mark.anyio


class Readings:
    """Each reading waits until it may end."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_end = asyncio.Event()

    async def read(self) -> int:
        self.begun += 1
        number = self.begun
        await self.may_end.wait()
        return number


async def test_requests_wait_for_the_first_value_together() -> None:
    readings = Readings()
    value = ReadAgain(readings.read, 3600)
    waiting = [asyncio.ensure_future(value.get()) for _ in range(3)]
    while not readings.begun:
        await asyncio.sleep(0)
    readings.may_end.set()
    assert await asyncio.gather(*waiting) == [1, 1, 1]
    assert await value.get() == 1


async def test_during_a_later_reading_requests_get_the_old_value() -> None:
    readings = Readings()
    value = ReadAgain(readings.read, 0)
    readings.may_end.set()
    assert await value.get() == 1
    readings.may_end.clear()
    reading = asyncio.ensure_future(value.get())
    while readings.begun < 2:
        await asyncio.sleep(0)
    assert await value.get() == 1
    readings.may_end.set()
    assert await reading == 2


async def test_as_long_as_it_is_equal_it_is_the_same_object() -> None:
    answers = iter([[1], [1], [2]])

    async def read() -> list[int]:
        return next(answers)

    value = ReadAgain(read, 0)
    first = await value.get()
    seen = value.seen
    assert await value.get() is first
    assert value.seen == seen
    assert await value.get() is not first
    assert value.seen != seen


async def test_after_a_failure_the_next_request_reads() -> None:
    answers = iter([OSError("no database"), 5])

    async def read() -> int:
        found = next(answers)
        if isinstance(found, OSError):
            raise found
        return found

    value = ReadAgain(read, 3600)
    with pytest.raises(OSError, match="no database"):
        await value.get()
    assert await value.get() == 5
