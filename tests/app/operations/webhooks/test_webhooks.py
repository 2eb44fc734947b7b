"""Verdicts are sent to an address that the user set: signed, again after a failure, and only the user's own."""

import asyncio
import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database, FromNow
from app.core.outbound_requests import Outside
from app.core.outbox import Outbox
from app.grading.attempts.views import AttemptViews
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import QueueHooks
from app.operations.webhooks.models import DeliveryRow
from app.operations.webhooks.sender import PAUSES_S, WebhookSender
from app.operations.webhooks.service import Webhooks, queue_deliveries
from tests.app.grading.queue.taking import TakingLeases
from tests.app.loops import hold

pytestmark = pytest.mark.anyio
# By the database's clock, which is the one that decides; SQLite's counts in milliseconds.
EXPIRED = FromNow(-1)
HOOKS, ATTEMPTS = "/api/v1/webhooks", "/api/v1/problems/add_one/attempts"


@pytest.fixture
async def inside(start_service, monkeypatch):
    """The service, permitted to send to this machine; it sends when the test says so."""

    hold(monkeypatch, "sending verdicts to webhooks")
    async with start_service(webhooks_private=True) as running:
        yield running


def outbox_of(service, *, private: bool = True) -> Outbox:
    webhooks = service.services[Webhooks]
    outside, views = Outside(private=private), service.services[AttemptViews]
    sender = WebhookSender(service.services[Database], webhooks._deployment_secret, outside, views)
    # On a busy machine, a turn waits for its tries.
    sender.outbox._turn_s = None
    return sender.outbox


async def add(service, url: str) -> dict[str, str]:
    made = await service.http.post(HOOKS, json={"url": url}, headers=service.bearer)
    assert made.status_code == 201, made.text
    return made.json()


async def submit(service, source: str = "x") -> dict[str, object]:
    return (await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": source}, headers=service.bearer)).json()


async def deliveries(service, hook: dict[str, str]) -> list[dict[str, object]]:
    found = await service.http.get(f"{HOOKS}/{hook['id']}/deliveries", headers=service.bearer)
    return found.json()["deliveries"]


async def test_a_verdict_is_sent_and_its_signature_proves_it(inside, receiver):
    hook = await add(inside, receiver.url)
    attempt = await submit(inside)
    assert await outbox_of(inside).send_due() == 1
    line, headers, body = receiver.got[0]
    assert line == "POST /hook HTTP/1.1"
    told = json.loads(body)
    assert (told["type"], told["data"]["id"], told["data"]["verdict"]["status"]) == (
        "attempt.finished",
        attempt["id"],
        "rejected",
    )
    key = base64.b64decode(hook["secret"].removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    (delivery,) = await deliveries(inside, hook)
    assert (delivery["id"], delivery["answer"], delivery["next_try_at"]) == (headers["webhook-id"], "HTTP 200", None)
    assert delivery["delivered_at"] is not None
    assert await outbox_of(inside).send_due() == 0


async def test_what_was_not_delivered_is_tried_again_with_growing_pauses_and_then_given_up(inside, receiver):
    receiver.status = "503 Service Unavailable"
    hook = await add(inside, receiver.url)
    await submit(inside)
    for tries, pause_s in enumerate((*PAUSES_S, None), 1):
        before = now()
        assert await outbox_of(inside).send_due() == 1
        async with inside.services[Database].writing() as session:
            row = (await session.scalars(select(DeliveryRow))).one()
            assert (row.tries, row.answer, row.delivered_at) == (tries, "HTTP 503", None)
            if pause_s is None:
                assert row.next_try_at is None
            else:
                assert timedelta(seconds=pause_s) <= row.next_try_at - before < timedelta(seconds=pause_s + 30)
                row.next_try_at = now()
    assert await outbox_of(inside).send_due() == 0
    # The same id every time, so that a receiver can tell a repetition from news.
    assert len(receiver.got) == len(PAUSES_S) + 1
    assert {headers["webhook-id"] for _, headers, _ in receiver.got} == {(await deliveries(inside, hook))[0]["id"]}


async def test_a_delivery_whose_sender_died_is_taken_up_by_another(inside, receiver):
    await add(inside, receiver.url)
    await submit(inside)
    assert len(await outbox_of(inside).lease_due()) == 1
    assert await outbox_of(inside).send_due() == 0
    async with inside.services[Database].writing() as session:
        await session.execute(update(DeliveryRow).values(lease_until=EXPIRED))
    assert await outbox_of(inside).send_due() == 1


async def test_a_delivery_at_which_every_sender_died_is_given_up(inside, receiver):
    hook = await add(inside, receiver.url)
    await submit(inside)
    for _ in range(len(PAUSES_S) + 1):
        assert len(await outbox_of(inside).lease_due()) == 1
        async with inside.services[Database].writing() as session:
            await session.execute(update(DeliveryRow).values(lease_until=EXPIRED))
    assert await outbox_of(inside).send_due() == 0
    (delivery,) = await deliveries(inside, hook)
    assert (delivery["next_try_at"], delivery["delivered_at"]) == (None, None)
    assert "the sender died" in delivery["answer"]


async def test_an_address_that_is_inside_after_all_is_told_to_its_owner(inside, receiver):
    hook = await add(inside, receiver.url)
    await submit(inside)
    await outbox_of(inside, private=False).send_due()
    (delivery,) = await deliveries(inside, hook)
    assert "not an address on the internet" in delivery["answer"]
    assert receiver.got == []


async def test_a_verdict_of_a_grader_that_died_is_sent_too(inside, receiver):
    await add(inside, receiver.url)
    attempt = await submit(inside)
    database = inside.services[Database]
    async with database.writing() as session:
        await session.execute(update(DeliveryRow).values(next_try_at=None))
        await session.execute(update(AttemptRow).values(status="running", tries=3, lease_until=EXPIRED))
    leases = TakingLeases(database, 30.0, 0.0, hooks=QueueHooks(on_finished=queue_deliveries))
    await leases.rescued(max_deaths=3, everything=True)
    assert await outbox_of(inside).send_due() == 1
    told = json.loads(receiver.got[0][2])
    assert (told["data"]["id"], told["data"]["verdict"]["status"]) == (attempt["id"], "failed")


async def test_a_deleted_webhook_is_sent_nothing_more(inside, receiver):
    hook = await add(inside, receiver.url)
    await submit(inside)
    gone = await inside.http.delete(f"{HOOKS}/{hook['id']}", headers=inside.bearer)
    assert (gone.status_code, gone.text) == (204, "")
    assert await outbox_of(inside).send_due() == 0
    assert (await inside.http.get(HOOKS, headers=inside.bearer)).json() == {"webhooks": []}


async def test_the_secret_is_told_once(inside, receiver):
    hook = await add(inside, receiver.url)
    for path in (HOOKS, f"{HOOKS}/{hook['id']}"):
        assert "secret" not in (await inside.http.get(path, headers=inside.bearer)).text
    assert (await inside.http.post(HOOKS, json={"url": receiver.url}, headers=inside.bearer)).headers[
        "cache-control"
    ] == "no-store"


async def test_another_users_webhook_is_not_found_and_hears_nothing(inside, receiver):
    hook = await add(inside, receiver.url)
    accounts = inside.services[Accounts]
    await accounts.preset_token(await accounts.add_user("somebody", "student"), "the-token-of-somebody")
    theirs = {"Authorization": "Bearer the-token-of-somebody"}
    for method, path in (("GET", ""), ("GET", "/deliveries"), ("DELETE", "")):
        answer = await inside.http.request(method, f"{HOOKS}/{hook['id']}{path}", headers=theirs)
        assert (answer.status_code, answer.json()["slug"]) == (404, "webhook-not-found")
    await inside.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=theirs)
    assert await outbox_of(inside).send_due() == 0


async def test_one_person_has_few_webhooks(inside, receiver):
    for _ in range(10):
        await add(inside, receiver.url)
    answer = await inside.http.post(HOOKS, json={"url": receiver.url}, headers=inside.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (409, "too-many-webhooks")


async def test_pages_of_deliveries_neither_repeat_nor_skip(inside, receiver):
    hook = await add(inside, receiver.url)
    made = [(await submit(inside, str(number)))["id"] for number in range(5)]
    found, query = [], {"limit": 2}
    while True:
        page = (await inside.http.get(f"{HOOKS}/{hook['id']}/deliveries", params=query, headers=inside.bearer)).json()
        found += [each["attempt"] for each in page["deliveries"]]
        if page["next"] is None:
            break
        query["before"] = page["next"]
    assert found == made[::-1]
    unknown = await inside.http.get(
        f"{HOOKS}/{hook['id']}/deliveries", params={"before": "0" * 32}, headers=inside.bearer
    )
    assert (unknown.status_code, unknown.json()["slug"]) == (404, "delivery-not-found")


async def test_the_service_sends_by_itself(start_service, receiver):
    async with start_service(webhooks_private=True) as service:
        hook = await add(service, receiver.url)
        await submit(service)
        async with asyncio.timeout(60):
            while not ((found := await deliveries(service, hook)) and found[0]["delivered_at"]):
                await asyncio.sleep(0.1)
        assert len(receiver.got) == 1


async def test_an_address_inside_is_refused_unless_the_operator_permits_it(service):
    answer = await service.http.post(HOOKS, json={"url": "https://127.0.0.1/"}, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (422, "webhook-url-refused")


@pytest.mark.parametrize(
    ("letters", "status", "slug"), [(20_000, 422, "field-invalid"), (300_000, 413, "body-too-large")]
)
async def test_a_field_that_is_too_long_is_told_as_such(service, letters, status, slug):
    url = f"https://example.org/{'a' * letters}"
    answer = await service.http.post(HOOKS, json={"url": url}, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (status, slug)
