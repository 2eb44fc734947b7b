"""An attempt that was stored without a misconception gets one when a version that knows its mistake is published."""

import asyncio

import pytest
from sqlalchemy import select

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.problems.models import PackageRow
from app.problems.package_store import PackageStore
from app.teaching.insight.misconception_backfill import MisconceptionBackfill
from tests.app.accounts.people import SITE, browser, sign_up
from tests.app.authoring.test_validation import ask, ended
from tests.app.loops import quicken
from tests.app.teaching.people.test_attempts_of_others import send

pytestmark = pytest.mark.anyio
ONE = "/api/v1/problems/add_one"
TEXT = "Returns x, and never adds."


@pytest.fixture
async def tess(either):
    async with browser(either) as tess:
        await sign_up(either, tess, "tess", "instructor")
        yield tess


async def publish_with_mistake(either, tess, attempt: str) -> str:
    """The attempt becomes a known mistake of a new version, which is validated and published."""
    made = await tess.post(f"{ONE}/insight/misconceptions", json={"attempt": attempt, "text": TEXT}, headers=SITE)
    version = made.json()["version"]
    await ended(either, await ask(either, version))
    done = await tess.post(f"{ONE}/publish", json={"version": version, "force": True}, headers=SITE)
    assert done.status_code == 200, done.text
    return version


async def explain(either) -> None:
    explaining = MisconceptionBackfill(either.services[Database], either.services[PackageStore])
    while await explaining.step():
        pass


async def misconceptions(either) -> dict[str, str | None]:
    """By the attempt's id; what the verdict says, and what insight counts."""
    async with either.services[Database].reading() as session:
        rows = (await session.scalars(select(AttemptRow).where(AttemptRow.kind == "attempt"))).all()
    for row in rows:
        assert row.verdict["misconception"] == row.faults["misconception"]
        assert (row.fingerprint is None) == (row.verdict["misconception"] is not None)
    return {row.id: row.verdict["misconception"] for row in rows}


async def is_explained(either, version: str) -> bool:
    async with either.services[Database].reading() as session:
        return bool(await session.scalar(select(PackageRow.explained).where(PackageRow.version == version)))


async def test_attempts_of_before_are_explained_by_a_new_version(either, tess):
    async with browser(either) as ada, browser(either) as bob:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        first, other, same = (
            await send(either, ada, "x = 1"),
            await send(either, ada, "x = 2"),
            await send(either, bob, "#\nx = 1"),
        )
        await explain(either)
        assert await misconceptions(either) == {first: None, other: None, same: None}
        await publish_with_mistake(either, tess, first)
        await explain(either)
        assert await misconceptions(either) == {first: TEXT, other: None, same: TEXT}
        assert (await ada.get(f"/api/v1/attempts/{first}")).json()["verdict"]["misconception"] == TEXT


async def test_the_service_does_it_by_itself_and_once(either, tess, monkeypatch):
    quicken(monkeypatch)
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        attempt = await send(either, ada, "x = 1")
        version = await publish_with_mistake(either, tess, attempt)
        async with asyncio.timeout(60):
            while not await is_explained(either, version):
                await asyncio.sleep(0.01)
        assert await misconceptions(either) == {attempt: TEXT}
        assert not await MisconceptionBackfill(either.services[Database], either.services[PackageStore]).step()
