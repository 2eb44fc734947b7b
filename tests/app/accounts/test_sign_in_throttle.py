"""Guessing takes longer with each failure, and nobody can lock someone else out."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.accounts.errors import TooManySignIns
from app.accounts.sign_in_throttle import Throttle
from app.core.clock import now
from app.core.limits import LimitCountRow
from tests.app.accounts.people import PASSWORD, browser, send_form, sign_up

pytestmark = pytest.mark.anyio
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


class Clock:
    def __init__(self) -> None:
        self.moment = now()

    def __call__(self):
        return self.moment

    def wait(self, **time: float) -> None:
        self.moment += timedelta(**time)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("app.core.limits.now", clock)
    return clock


@pytest.fixture
async def throttle(each_database, clock) -> Throttle:
    return Throttle(each_database)


async def wait_after_another(throttle: Throttle, name: str = "ada", address: str = HERE) -> int:
    """The seconds that another try has to wait; 0 if it is let through, and counted."""
    try:
        await throttle.begin(name, address)
    except TooManySignIns as refused:
        return int(refused.headers["Retry-After"])
    return 0


async def test_waits_grow_up_to_a_quarter_of_an_hour(throttle, clock):
    waits = []
    for _ in range(20):
        while seconds := await wait_after_another(throttle):
            waits.append(seconds)
            clock.wait(seconds=seconds)
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert waits[-1] == 900


async def test_it_does_not_reach_another_address_or_another_name(throttle):
    while not await wait_after_another(throttle):
        pass
    assert await wait_after_another(throttle, address=ELSEWHERE) == 0
    assert await wait_after_another(throttle, name="bob") == 0


async def test_pressing_on_does_not_make_the_wait_longer(throttle, clock):
    while not await wait_after_another(throttle):
        pass
    for _ in range(10):
        assert await wait_after_another(throttle) == 1
    clock.wait(seconds=1)
    assert await wait_after_another(throttle) == 0


async def test_an_address_that_tries_many_names_waits_a_little(throttle, clock):
    tried = 0
    while not (wait := await wait_after_another(throttle, name=f"user{tried}")):
        tried += 1
    assert (tried, wait) == (101, 1)
    clock.wait(seconds=wait)
    for number in range(20):
        wait = await wait_after_another(throttle, name=f"further{number}")
        clock.wait(seconds=wait)
    assert wait <= 10
    assert await wait_after_another(throttle, address=ELSEWHERE) == 0


async def test_a_success_starts_the_name_anew_and_takes_back_one_failure_of_the_address(throttle, each_database):
    for _ in range(4):
        await throttle.begin("ada", HERE)
    await throttle.forgive("ada", HERE)
    async with each_database.reading() as session:
        assert list(await session.scalars(select(LimitCountRow.tries))) == [3]


async def test_of_a_burst_no_try_is_lost(throttle):
    answers = await asyncio.gather(*(wait_after_another(throttle) for _ in range(12)))
    assert answers.count(0) == 6  # five free, and the one that starts the first wait


async def test_a_day_later_it_is_forgotten(throttle, clock, each_database):
    while not await wait_after_another(throttle):
        pass
    clock.wait(days=1, seconds=1)
    assert await wait_after_another(throttle, name="bob", address=ELSEWHERE) == 0
    async with each_database.reading() as session:
        assert len(list(await session.scalars(select(LimitCountRow)))) == 2


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("", "", True),
    ],
)
async def test_ipv6_counts_by_the_network_of_one_customer(throttle, one, other, same):
    while not await wait_after_another(throttle, address=one):
        pass
    assert bool(await wait_after_another(throttle, address=other)) == same


async def test_neither_names_nor_addresses_are_stored(throttle, each_database):
    await throttle.begin("a password typed as a name", HERE)
    async with each_database.reading() as session:
        for key in await session.scalars(select(LimitCountRow.key_hash)):
            assert len(key) == 64


@pytest.mark.usefixtures("clock")  # does not move: on a busy machine the restart takes longer than the wait
async def test_the_right_password_waits_too_and_a_restart_forgets_nothing(start_service):
    async with start_service() as service, browser(service) as http:
        await sign_up(service, http, "ada")
        async with browser(service) as thief:
            for _ in range(6):
                answer = await send_form(thief, "/sign-in", "/sign-in", name="ada", password="wrong")
                assert answer.status_code == 401
    async with start_service() as service:
        async with browser(service) as thief:
            answer = await send_form(thief, "/sign-in", "/sign-in", name="Ada", password=PASSWORD)
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
            assert "Try again in 1 s" in answer.text
        async with browser(service, client=(ELSEWHERE, 1)) as ada:
            assert (await send_form(ada, "/sign-in", "/sign-in", name="ada", password=PASSWORD)).status_code == 303


async def test_guessing_the_present_password_is_slowed_as_well(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        form = {"old": "wrong", "new": "another long password"}
        answers = [await send_form(http, "/account", "/account/password", **form) for _ in range(7)]
        assert [answer.status_code for answer in answers] == [401] * 6 + [429]
