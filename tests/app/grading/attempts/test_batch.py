"""Several attempts in one request: each is stored or refused, and counted, separately. A repeated request is safe."""

import pytest

from app.accounts.service import Accounts
from app.grading.queue.walls import Walls

pytestmark = pytest.mark.anyio
BATCH = "/api/v1/batch/attempts"


def item(source="x", **further):
    return {"problem": "add_one", "kind": "run", "source": source, **further}


async def submit(service, *items, headers=None):
    return await service.http.post(BATCH, json={"items": list(items)}, headers=headers or service.bearer)


async def read(service, *ids, headers=None):
    return await service.http.get(BATCH, params=[("id", each) for each in ids], headers=headers or service.bearer)


async def test_each_item_is_stored_or_refused_by_itself_and_in_order(service):
    answer = await submit(service, item("a"), item(problem="add_two"), item(" "), item("b", kind="attempt"))
    assert answer.status_code == 200
    first, unknown, empty, last = answer.json()["items"]
    assert (first["error"], first["attempt"]["kind"]) == (None, "run")
    assert (last["error"], last["attempt"]["kind"]) == (None, "attempt")
    assert (unknown["attempt"], unknown["error"]["slug"], unknown["error"]["status"]) == (
        None,
        "problem-not-found",
        404,
    )
    assert "suggestion" in unknown["error"]
    assert (empty["attempt"], empty["error"]["slug"]) == (None, "source-empty")
    listed = (await service.http.get("/api/v1/attempts", headers=service.bearer)).json()["attempts"]
    assert [each["id"] for each in listed] == [last["attempt"]["id"], first["attempt"]["id"]]


async def test_they_are_read_in_the_order_that_is_asked_for(service):
    made = [each["attempt"]["id"] for each in (await submit(service, item("a"), item("b"))).json()["items"]]
    for attempt_id in made:
        await service.http.get(f"/api/v1/attempts/{attempt_id}?wait=60", headers=service.bearer)
    wanted = [made[1], "0" * 32, made[0], "nonsense"]
    found = (await read(service, *wanted)).json()["items"]
    assert [each["attempt"] and each["attempt"]["id"] for each in found] == [made[1], None, made[0], None]
    assert [each["error"] and each["error"]["slug"] for each in found] == [None, "attempt-not-found"] * 2
    assert found[0]["attempt"]["verdict"] is not None


async def test_anothers_attempt_is_none(service):
    accounts = service.services[Accounts]
    await accounts.preset_token(await accounts.add_user("somebody", "student"), "the-token-of-somebody")
    theirs = {"Authorization": "Bearer the-token-of-somebody"}
    [mine] = (await submit(service, item())).json()["items"]
    [found] = (await read(service, mine["attempt"]["id"], headers=theirs)).json()["items"]
    assert (found["attempt"], found["error"]["slug"]) == (None, "attempt-not-found")


async def test_an_item_that_is_sent_again_with_its_key_is_the_same_attempt(service):
    sent = [item("a", idempotency_key="k1"), item("b", idempotency_key="k2")]
    first = (await submit(service, *sent)).json()["items"]
    again = (await submit(service, *sent, item("c", idempotency_key="k1"))).json()["items"]
    assert [each["attempt"]["id"] for each in again[:2]] == [each["attempt"]["id"] for each in first]
    assert again[2]["error"]["slug"] == "idempotency-key-reused"
    whole = await submit(service, *sent, headers=service.bearer | {"Idempotency-Key": "k"})
    assert (whole.status_code, whole.json()["slug"]) == (422, "field-invalid")


async def test_each_of_them_counts_against_the_limits(start_service):
    async with start_service(requests_per_minute=10, max_waiting_per_user=2, wall_up=False) as service:
        service.services[Walls].probed = False  # attempts queue and none is graded
        service.services[Walls]._missing = []
        answer = await submit(service, *(item(str(number)) for number in range(4)))
        assert [each["error"] and each["error"]["slug"] for each in answer.json()["items"]] == [
            None,
            None,
            "too-many-waiting",
            "too-many-waiting",
        ]
        assert answer.headers["ratelimit"].startswith('"requests";r=6;')
        refused = await submit(service, *(item() for _ in range(7)))
        assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-requests")
        assert int(refused.headers["retry-after"]) >= 1
        # A batch larger than the remaining quota stores nothing, and only the request itself counts.
        assert refused.headers["ratelimit"].startswith('"requests";r=5;')
        assert (await read(service, *["0" * 32] * 5)).status_code == 200
        assert (await read(service, "0" * 32)).status_code == 429


async def test_one_larger_than_the_limit_takes_a_minute_of_its_own(start_service):
    async with start_service(requests_per_minute=3) as service:
        answers = [await read(service, *["0" * 32] * 5) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 429]
        assert answers[0].headers["ratelimit"].startswith('"requests";r=0;')


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        ({"items": []}, "field-invalid"),
        ({"items": [item()] * 21}, "field-invalid"),
        ({"items": [item(kind="rejudge")]}, "field-invalid"),
        ({"items": [item(idempotency_key="a b")]}, "field-invalid"),
        ({"items": [item(wait=5)]}, "field-unknown"),
        ({}, "field-missing"),
    ],
)
async def test_a_batch_that_is_none_is_refused_as_a_whole(service, body, slug):
    answer = await service.http.post(BATCH, json=body, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (422, slug)
    assert (await service.http.get("/api/v1/attempts", headers=service.bearer)).json()["attempts"] == []


async def test_a_batch_of_two_mebibytes_is_the_largest(service):
    answer = await submit(service, *(item("x" * 110_000) for _ in range(20)))
    assert (answer.status_code, answer.json()["slug"]) == (413, "body-too-large")


@pytest.mark.parametrize("number", [0, 21])
async def test_ids_are_one_to_twenty(service, number):
    assert (await read(service, *["0" * 32] * number)).status_code == 422
