"""A platform that never responds does not hold up the scores of the others."""

import asyncio

import pytest

from app.core.clock import now
from app.core.database import Database
from app.core.outbox import Outcome
from app.teaching.lti.models import ContextRow, LinkRow, PlatformRow, ScoreRow
from app.teaching.lti.scores import ScoreSender
from tests.app.loops import hold

pytestmark = pytest.mark.anyio
_TEXTS = ("name", "issuer", "client_id", "login_url", "token_url", "keys_url", "deployments")


@pytest.fixture
async def service(start_service, database_url, monkeypatch):
    hold(monkeypatch, "sending scores to learning platforms")
    async with start_service(database_url=database_url) as running:
        yield running


async def add_scores(database: Database, user: str, name: str, number: int) -> None:
    """Scores of as many links of a platform of this name, all of them due."""
    async with database.writing() as session:
        texts = dict.fromkeys(_TEXTS, name)
        session.add(PlatformRow(id=name, grants_instructor=False, created_at=now(), **texts))
        await session.flush()
        session.add(ContextRow(id=name, platform_id=name, context=name, title=name))
        await session.flush()
        for each in (f"{name}{link}" for link in range(number)):
            session.add(LinkRow(id=each, context_id=name, resource=each, title=each, line_item=each))
            await session.flush()
            session.add(ScoreRow(id=each, link_id=each, user_id=user, subject=each, tries=0, next_try_at=now()))


async def test_the_scores_of_other_platforms_are_sent_beside_those_that_wait(service, monkeypatch):
    database = service.services[Database]
    user = (await service.http.get("/api/v1/me", headers=service.bearer)).json()["id"]
    await add_scores(database, user, "silent", 20)
    await add_scores(database, user, "quick", 8)
    over, sent = asyncio.Event(), []

    async def send(self, row: ScoreRow) -> Outcome:
        sent.append(row.id)
        if row.id.startswith("silent"):
            await over.wait()
        return Outcome(True, "HTTP 200")

    monkeypatch.setattr(ScoreSender, "_send", send)
    outbox = ScoreSender(database, None, None, None).outbox
    outbox._turn_s = 0.0
    try:
        while len([each for each in sent if each.startswith("quick")]) < 8:
            assert len([each for each in sent if each.startswith("silent")]) <= 5
            await outbox.send_due()
    finally:
        over.set()
        await outbox.stop()
