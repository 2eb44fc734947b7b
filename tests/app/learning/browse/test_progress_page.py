"""The page of your own progress."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.core.database import Database
from tests.app.accounts.people import sign_in
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio


@pytest.fixture
async def sent_at(service, monkeypatch) -> datetime:
    """The owner solved the problem at this time, which is the page's current minute."""
    owner = await service.services[Accounts].ensure_owner()
    await sign_in(service)
    moment = await hand_in(service.services[Database], User(owner.id, owner.name, owner.role), accepted(None))
    monkeypatch.setattr("app.learning.browse.progress_pages.now", lambda: moment)
    return moment


async def test_it_shows_points_and_the_streak(service, sent_at):
    page = (await service.http.get("/progress")).text
    assert "1 of 1 solved" in page
    assert "100 points" in page
    assert "day in a row" in page
    assert f'<time datetime="{sent_at.astimezone(UTC).date()}">' in page


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
async def test_days_are_those_of_the_zone_that_the_address_names(service, sent_at, zone):
    page = (await service.http.get("/progress", params={"zone": zone})).text
    assert f"<option selected>{zone}</option>" in page
    assert f'<time datetime="{sent_at.astimezone(ZoneInfo(zone)).date()}">' in page


@pytest.mark.parametrize("zone", ["../../etc/passwd", "Mars/Olympus", "", "europe/berlin"])
async def test_a_zone_that_does_not_exist_is_utc(service, sent_at, zone):
    answer = await service.http.get("/progress", params={"zone": zone})
    assert answer.status_code == 200
    assert "<option selected>UTC</option>" in answer.text


async def test_without_anything_sent_it_says_what_will_be_there(service):
    await sign_in(service)
    page = (await service.http.get("/progress")).text
    assert "No days yet" in page
    assert "0 of 1 solved" in page
