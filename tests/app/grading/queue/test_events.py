"""Who hears of a change to an attempt: subscribers in order, watchers, and latecomers."""

import asyncio

import pytest

from app.grading.queue.events import Change, Subscription, WorkEvents

pytestmark = pytest.mark.anyio
# A change that was published before is there at once. Nothing else publishes, so a longer wait would find no more.
AT_ONCE_S = 0.01
QUEUED, TRACING, COMPARING = Change("queued", None), Change("running", "trace"), Change("running", "compare")
FINISHED = Change("finished", None)


@pytest.fixture
def events() -> WorkEvents:
    return WorkEvents()


async def changes(subscription: Subscription) -> list[Change]:
    found = []
    while change := await subscription.next(AT_ONCE_S):
        found.append(change)
    return found


def is_waiting(task: asyncio.Task[object]) -> bool:
    return not task.done()


@pytest.mark.parametrize(("status", "last"), [("queued", False), ("running", False), ("finished", True)])
async def test_nothing_comes_after_an_attempt_has_ended(status, last):
    assert Change(status, None).is_last is last


async def test_a_subscriber_gets_the_changes_of_its_attempt_in_order(events):
    with events.subscribe("a", "ada") as subscription:
        assert not subscription.closed
        for change in (QUEUED, TRACING, COMPARING, FINISHED):
            events.publish("a", change)
        events.publish("b", QUEUED)
        assert await changes(subscription) == [QUEUED, TRACING, COMPARING, FINISHED]


async def test_a_subscriber_that_waits_wakes_up_at_a_change(events):
    with events.subscribe("a", "ada") as subscription:
        waiting = asyncio.create_task(subscription.next(60))
        await asyncio.sleep(0)
        assert is_waiting(waiting)
        events.publish("a", TRACING)
        assert await asyncio.wait_for(waiting, 60) == TRACING
        # Once more: the news of the first change does not count for the second.
        waiting = asyncio.create_task(subscription.next(60))
        for _ in range(10):
            await asyncio.sleep(0)
        assert is_waiting(waiting)
        events.publish("a", COMPARING)
        assert await asyncio.wait_for(waiting, 60) == COMPARING


async def test_every_subscriber_of_an_attempt_gets_each_change(events):
    with events.subscribe("a", "ada") as first, events.subscribe("a", "ada") as second:
        events.publish("a", TRACING)
        assert await changes(first) == await changes(second) == [TRACING]


async def test_one_that_leaves_does_not_take_the_others_along(events):
    with events.subscribe("a", "ada") as stays:
        with events.subscribe("a", "ada") as leaves:
            pass
        events.publish("a", TRACING)
        assert await changes(stays) == [TRACING]
        assert await changes(leaves) == []


async def test_who_comes_while_it_runs_gets_the_latest_phase(events):
    events.publish("a", TRACING)
    events.publish("a", COMPARING)
    with events.subscribe("a", "ada") as subscription:
        assert await changes(subscription) == [COMPARING]


@pytest.mark.parametrize("change", [QUEUED, FINISHED])
async def test_who_comes_when_it_no_longer_runs_gets_no_phase(events, change):
    events.publish("a", TRACING)
    events.publish("a", change)
    with events.subscribe("a", "ada") as subscription:
        assert await changes(subscription) == []


async def test_phases_that_may_be_out_of_date_are_dropped(events):
    events.publish("a", TRACING)
    events.forget()
    with events.subscribe("a", "ada") as subscription:
        assert await changes(subscription) == []


async def test_a_slow_subscriber_loses_the_oldest_phases_and_not_the_end(events):
    phases = [Change("running", str(number)) for number in range(70)]
    with events.subscribe("a", "ada") as subscription:
        for change in (*phases, FINISHED):
            events.publish("a", change)
        found = await changes(subscription)
    assert found == [*phases[-63:], FINISHED]


async def test_a_watcher_hears_of_every_attempt_and_one_of_here_only_of_this_process(events):
    everywhere, here = [], []
    events.watch(lambda *change: everywhere.append(change))
    events.watch_here(lambda *change: here.append(change))
    events.note("a", QUEUED)
    events.deliver("b", TRACING)
    events.publish("c", FINISHED)
    assert here == [("a", QUEUED), ("c", FINISHED)]
    assert everywhere == [("b", TRACING), ("c", FINISHED)]


async def test_the_end_of_the_service_ends_every_wait(events):
    with events.subscribe("a", "ada") as one, events.subscribe("b", "ada") as other:
        waiting = [asyncio.create_task(each.next(60)) for each in (one, other)]
        await asyncio.sleep(0)
        events.close()
        assert await asyncio.wait_for(asyncio.gather(*waiting), 60) == [None, None]
        assert one.closed
        assert other.closed


async def test_who_comes_after_the_end_does_not_wait(events):
    events.publish("a", TRACING)
    events.close()
    with events.subscribe("a", "ada") as subscription:
        assert subscription.closed
        assert await asyncio.wait_for(subscription.next(60), 60) is None


async def test_what_came_before_the_end_is_still_read(events):
    with events.subscribe("a", "ada") as subscription:
        events.publish("a", FINISHED)
        events.close()
        assert await subscription.next(AT_ONCE_S) == FINISHED
        assert await subscription.next(60) is None
