"""What owners see first: whether the service is well, and what they have to act on."""

import pytest
from sqlalchemy import update

from app.core.database import Database
from app.operations.webhooks.models import DeliveryRow
from tests.app.accounts.people import SITE, browser, sign_in, sign_up
from tests.app.teaching.people.test_attempts_of_others import send

pytestmark = pytest.mark.anyio
PAGE = {"Accept": "text/html"}


async def test_an_empty_service_says_what_to_do_first(either):
    await sign_in(either)
    page = (await either.http.get("/admin", headers=PAGE)).text
    for words in ("Nothing waits.", "No delivery fails.", "Invite the instructors first.", "Nothing recorded yet"):
        assert words in page
    assert " are free on the disk of the data folder." in page


async def test_what_was_done_and_what_fails(either):
    await sign_in(either)
    http = either.http
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        person = (await ada.get("/api/v1/me")).json()["id"]
    await http.post(f"/api/v1/people/{person}/deactivate", json={"reason": "left the course"}, headers=SITE)
    await http.post("/api/v1/invitations", json={"role": "student"}, headers=SITE)
    await http.post("/api/v1/webhooks", json={"url": "https://example.org/"}, headers=SITE)
    await send(either, http, "x")
    async with either.services[Database].writing() as session:
        await session.execute(
            update(DeliveryRow).values(tries=9, next_try_at=None, delivered_at=None, answer="HTTP 503")
        )
    page = (await http.get("/admin", headers=PAGE)).text
    for words in (
        "left the course",
        "1 unused invitation ",
        "0 will be tried again, 1 was given up. Last answers: HTTP 503",
    ):
        assert words in page
