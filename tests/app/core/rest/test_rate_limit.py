"""One person cannot take all of the service's time, and every response shows how much is left."""

import re

import pytest

from app.accounts.service import Accounts

pytestmark = pytest.mark.anyio


async def test_every_answer_says_what_is_left(service):
    first = await service.http.get("/api/v1/me", headers=service.bearer)
    second = await service.http.get("/api/v1/attempts/nothing", headers=service.bearer)
    for answer in (first, second):
        assert answer.headers["ratelimit-policy"] == '"requests";q=1200;w=60'
    left = [re.fullmatch(r'"requests";r=(\d+);t=(\d+)', each.headers["ratelimit"]) for each in (first, second)]
    assert [int(each[1]) for each in left] == [1199, 1198]
    assert all(1 <= int(each[2]) <= 60 for each in left)


async def test_one_too_many_is_refused_until_the_window_is_over(start_service):
    async with start_service(requests_per_minute=2) as service:
        answers = [await service.http.get("/api/v1/me", headers=service.bearer) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        refused = answers[-1]
        assert refused.json()["slug"] == "too-many-requests"
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert refused.headers["ratelimit"].startswith('"requests";r=0;')
        assert (await service.http.get("/healthz")).status_code == 200


async def test_people_are_counted_one_by_one(start_service):
    async with start_service(requests_per_minute=1) as service:
        accounts = service.services[Accounts]
        await accounts.preset_token(await accounts.add_user("somebody", "student"), "the-token-of-somebody")
        theirs = {"Authorization": "Bearer the-token-of-somebody"}
        answers = [
            await service.http.get("/api/v1/attempts", headers=headers)
            for headers in (service.bearer, theirs, service.bearer, theirs)
        ]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]


async def test_nobody_is_counted_by_address(start_service):
    async with start_service(requests_per_minute=1) as service:
        answers = [await service.http.get("/api/v1/attempts") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [401, 429]


async def test_problems_can_be_read_as_often_as_one_likes(start_service):
    async with start_service(requests_per_minute=1) as service:
        answers = [await service.http.get("/api/v1/problems") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 200]
        assert {answer.headers["ratelimit"] for answer in answers} == {'"requests";r=1;t=1'}
