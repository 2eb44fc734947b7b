"""So many accounts an hour from one address, and so many in total."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.accounts.errors import TooManySignUps
from app.accounts.sign_up_brake import SignUpBrake, SignUpLimits
from app.core.clock import now
from app.core.limits import LimitCountRow

pytestmark = pytest.mark.anyio
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


@pytest.fixture
async def brake(each_database) -> SignUpBrake:
    return SignUpBrake(each_database, SignUpLimits(per_address=3, in_total=5))


async def wait_after_another(brake: SignUpBrake, address: str = HERE) -> int:
    try:
        await brake.count(address)
    except TooManySignUps as refused:
        return int(refused.headers["Retry-After"])
    return 0


async def test_one_address_waits_for_the_end_of_its_hour_and_others_do_not(brake, monkeypatch):
    assert await asyncio.gather(*(wait_after_another(brake) for _ in range(3))) == [0, 0, 0]
    assert 3590 < await wait_after_another(brake) <= 3600
    assert await wait_after_another(brake, ELSEWHERE) == 0
    monkeypatch.setattr("app.core.limits.now", lambda: now() + timedelta(minutes=61))
    assert await wait_after_another(brake) == 0


async def test_all_addresses_together_have_a_limit_and_a_refused_one_takes_nothing_of_it(brake):
    for _ in range(6):
        await wait_after_another(brake)
    assert [await wait_after_another(brake, f"198.51.100.{number}") for number in range(2)] == [0, 0]
    assert await wait_after_another(brake, ELSEWHERE) > 0


async def test_a_customers_ipv6_network_is_one_address(brake):
    for number in range(3):
        assert await wait_after_another(brake, f"2001:db8::{number}") == 0
    assert await wait_after_another(brake, "2001:db8::ffff:1") > 0
    assert await wait_after_another(brake, "2001:db8:0:1::1") == 0


async def test_no_address_is_stored(brake, each_database):
    await brake.count(HERE)
    async with each_database.reading() as session:
        assert {len(key) for key in await session.scalars(select(LimitCountRow.key_hash))} == {64}
