"""Addresses that never respond hold up nobody else: each person has a share, and each such address is tried apart."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database, FromNow
from app.grading.attempts.views import AttemptViews
from app.operations.webhooks.models import DeliveryRow, WebhookRow
from app.operations.webhooks.sender import PAUSES_S, WebhookSender
from app.operations.webhooks.service import Webhooks
from tests.app.loops import hold
from tests.app.operations.webhooks.test_webhooks import ATTEMPTS, HOOKS

pytestmark = pytest.mark.anyio
DEAD, LIVE = "http://dead.example/", "http://live.example/"


class Receivers:
    """Instead of the internet. What begins with `DEAD` gets no response once `over` is set, and none before that."""

    def __init__(self) -> None:
        self.got: list[str] = []
        self.over = asyncio.Event()
        self.over.set()
        self.alive = asyncio.Event()
        self.are_dead = True

    async def post(self, url, headers, body):
        self.got.append(url)
        if url.startswith(DEAD) and self.are_dead:
            await self.over.wait()
            raise TimeoutError
        self.alive.set()
        return 200


@pytest.fixture
async def inside(start_service, monkeypatch):
    hold(monkeypatch, "sending verdicts to webhooks")
    hold(monkeypatch, "sending verdicts to slow webhooks")
    async with start_service(webhooks_private=True, requests_per_minute=100_000) as running:
        yield running


@pytest.fixture
def receivers():
    return Receivers()


@pytest.fixture
def sender(inside, receivers):
    """Each of its turns waits for all of its tries."""
    secret = inside.services[Webhooks]._deployment_secret
    sender = WebhookSender(inside.services[Database], secret, receivers, inside.services[AttemptViews])
    sender.outbox._turn_s = sender.slow_outbox._turn_s = None
    return sender


async def person(service, name):
    accounts = service.services[Accounts]
    await accounts.preset_token(await accounts.add_user(name, "student"), f"the-long-token-of-{name}")
    return {"Authorization": f"Bearer the-long-token-of-{name}"}


async def register(service, bearer, *urls):
    for url in urls:
        assert (await service.http.post(HOOKS, json={"url": url}, headers=bearer)).status_code == 201


async def submit(service, bearer):
    await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=bearer)


async def rows(service, *columns):
    async with service.services[Database].reading() as session:
        return [tuple(row) for row in await session.execute(select(*columns))]


async def all_due(service, **of_webhooks):
    async with service.services[Database].writing() as session:
        undelivered = DeliveryRow.delivered_at.is_(None)
        await session.execute(update(DeliveryRow).where(undelivered).values(next_try_at=now()))
        if of_webhooks:
            await session.execute(update(WebhookRow).values(of_webhooks))


async def test_ten_dead_addresses_leave_the_first_turn_to_others(inside, sender, receivers):
    """A turn of dead addresses takes 10 s. One line in the order of time took ada's delivery in the fourth turn."""
    mallory, ada = await person(inside, "mallory"), await person(inside, "ada")
    await register(inside, mallory, *(f"{DEAD}{number}" for number in range(10)))
    await register(inside, ada, LIVE)
    for _ in range(3):
        await submit(inside, mallory)
    await submit(inside, ada)
    assert len(await rows(inside, DeliveryRow.id)) == 31
    turns = 0
    while LIVE not in receivers.got:
        await sender.outbox.send_due()
        turns += 1
    assert turns == 1
    assert Counter(each.startswith(DEAD) for each in receivers.got) == {True: 2, False: 1}


async def test_tries_without_a_response_keep_the_share_of_their_owner_alone(inside, sender, receivers):
    """They are still in progress in the next turns, which belong to everybody else."""
    mallory, ada = await person(inside, "mallory"), await person(inside, "ada")
    await register(inside, mallory, *(f"{DEAD}{number}" for number in range(10)))
    await register(inside, ada, LIVE)
    await submit(inside, mallory)
    receivers.over.clear()
    sender.outbox._turn_s = 0.0
    assert await sender.outbox.send_due() == 2
    for _ in range(3):
        receivers.alive.clear()
        await submit(inside, ada)
        assert await sender.outbox.send_due() == 1
        await asyncio.wait_for(receivers.alive.wait(), 60)
    assert Counter(each.startswith(DEAD) for each in receivers.got) == {True: 2, False: 3}
    receivers.over.set()
    await asyncio.gather(*sender.outbox._under_way)
    assert await sender.outbox.send_due() == 2, "the share is free again"
    await sender.outbox.stop()


async def test_what_is_under_way_ends_with_the_loop(inside, sender, receivers):
    mallory = await person(inside, "mallory")
    await register(inside, mallory, DEAD)
    await submit(inside, mallory)
    receivers.over.clear()
    sender.outbox._turn_s = 0.0
    await sender.outbox.send_due()
    [under_way] = sender.outbox._under_way
    # The loop itself is held in these tests: tests/app/core/test_background_loop.py has the call at its end.
    await sender.outbox.loop.end()
    assert under_way.cancelled()


async def test_an_address_without_a_response_is_tried_apart_and_seldom_until_it_responds(inside, sender, receivers):
    mallory = await person(inside, "mallory")
    await register(inside, mallory, DEAD)
    for _ in range(5):
        await submit(inside, mallory)
    assert await sender.outbox.send_due() == 2
    # These two tries stand for the other three as well.
    found = await rows(inside, DeliveryRow.tries, DeliveryRow.answer, DeliveryRow.next_try_at > now())
    assert found == [(1, "no response in time", True)] * 5

    await all_due(inside)
    assert await sender.outbox.send_due() == 0, "it has left the line of the others"
    assert await sender.slow_outbox.send_due() == 0, "it is paused"
    [(slow_tries, until)] = await rows(inside, WebhookRow.slow_tries, WebhookRow.paused_until)
    assert slow_tries == 2
    assert until - now() < timedelta(seconds=30.1)

    await all_due(inside, paused_until=FromNow(-1))
    assert await sender.slow_outbox.send_due() == 1
    assert await rows(inside, DeliveryRow.tries) == [(2,)] * 5
    [(slow_tries, until)] = await rows(inside, WebhookRow.slow_tries, WebhookRow.paused_until)
    assert slow_tries == 3
    assert timedelta(seconds=30.1) < until - now() < timedelta(seconds=60.1)

    await all_due(inside, paused_until=FromNow(-1))
    receivers.are_dead = False
    assert await sender.slow_outbox.send_due() == 1
    assert await rows(inside, WebhookRow.slow_tries, WebhookRow.paused_until) == [(0, None)]
    assert [await sender.outbox.send_due() for _ in range(3)] == [2, 2, 0]
    assert len([each for each in await rows(inside, DeliveryRow.delivered_at) if each[0]]) == 5


async def test_the_longest_pause_is_ten_minutes(inside, sender):
    mallory = await person(inside, "mallory")
    await register(inside, mallory, DEAD)
    await submit(inside, mallory)
    await all_due(inside, slow_tries=30)
    assert await sender.slow_outbox.send_due() == 1
    [(until,)] = await rows(inside, WebhookRow.paused_until)
    assert timedelta(seconds=500) < until - now() < timedelta(seconds=600.1)


async def test_a_delivery_that_others_stand_for_is_given_up_after_as_many_tries(inside, sender):
    mallory = await person(inside, "mallory")
    await register(inside, mallory, DEAD)
    for _ in range(2):
        await submit(inside, mallory)
    for tries in range(len(PAUSES_S) + 1):
        await all_due(inside, slow_tries=5, paused_until=None)
        assert await sender.slow_outbox.send_due() == 1
        assert await rows(inside, DeliveryRow.tries) == [(tries + 1,)] * 2
    assert await rows(inside, DeliveryRow.next_try_at) == [(None,)] * 2


async def test_a_slow_response_counts_but_is_not_paused(inside, sender, monkeypatch):
    monkeypatch.setattr("app.operations.webhooks.sender.SLOW_S", -1.0)
    ada = await person(inside, "ada")
    await register(inside, ada, LIVE)
    for _ in range(3):
        await submit(inside, ada)
    assert await sender.outbox.send_due() == 2
    assert await rows(inside, WebhookRow.slow_tries, WebhookRow.paused_until) == [(2, None)]
    assert (await sender.outbox.send_due(), await sender.slow_outbox.send_due()) == (0, 1)
    assert all(each for (each,) in await rows(inside, DeliveryRow.delivered_at))


async def test_one_try_per_person_at_slow_addresses(inside, sender, receivers):
    mallory, ada = await person(inside, "mallory"), await person(inside, "ada")
    await register(inside, mallory, *(f"{DEAD}{number}" for number in range(5)))
    await register(inside, ada, f"{DEAD}ada")
    await submit(inside, mallory)
    await submit(inside, ada)
    await all_due(inside, slow_tries=2)
    assert await sender.slow_outbox.send_due() == 2
    assert len([each for each in receivers.got if each.endswith("ada")]) == 1
