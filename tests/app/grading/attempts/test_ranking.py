"""The ranking of a problem: the best accepted attempt of each user, by what the judge stored."""

from dataclasses import replace

import pytest

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.grading.attempts.ranking import ranking
from app.problems.catalogue import Catalogue
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
URL = "/api/v1/problems/add_one/ranking"
PAGE = {"Accept": "text/html"}


@pytest.fixture
async def people(service) -> dict[str, User]:
    accounts = service.services[Accounts]
    owner = await accounts.ensure_owner()
    return {"owner": owner} | {name: await accounts.add_user(name, "student") for name in ("ada", "bob", "cyd")}


def grade_programs(service, package) -> None:
    """Serve the package as one whose compiled program is graded."""
    # Drop the checks, which belong to mode call: the ranking needs none.
    program = replace(package, manifest=package.manifest.model_copy(update={"mode": "program", "checks": ()}))
    service.services.add(Catalogue([program]))


async def read(service, **params):
    answer = await service.http.get(URL, params=params, headers=service.bearer)
    assert answer.status_code == 200, answer.text
    return answer.json()


def places(answer):
    return [(place["place"], place["name"], place["efficiency"]) for place in answer["places"]]


async def test_nobody_is_ranked_yet(service):
    assert await read(service) == {"problem": "add_one", "places": [], "own": None, "users": 0}


async def test_each_user_has_one_place_for_the_best_attempt(service, people):
    database = service.services[Database]
    for name, efficiency in (("ada", 80.0), ("ada", 120.5), ("ada", 90.0), ("bob", 100.0), ("owner", 95.0)):
        await hand_in(database, people[name], accepted(efficiency))
    answer = await read(service)
    assert places(answer) == [(1, "ada", 120.5), (2, "bob", 100.0), (3, "owner", 95.0)]
    assert (answer["own"]["place"], answer["own"]["name"], answer["users"]) == (3, "owner", 3)


async def test_equal_ones_share_a_place_and_the_first_to_reach_it_is_named_first(service, people):
    database = service.services[Database]
    for name, efficiency in (("bob", 100.0), ("ada", 90.0), ("ada", 100.0), ("ada", 100.0), ("cyd", 90.0)):
        await hand_in(database, people[name], accepted(efficiency))
    answer = await read(service)
    assert places(answer) == [(1, "bob", 100.0), (1, "ada", 100.0), (3, "cyd", 90.0)]
    times = [place["reached_at"] for place in answer["places"]]
    assert times[0] < times[1]


async def test_only_accepted_attempts_with_an_efficiency_are_ranked(service, people):
    database = service.services[Database]
    rejected = accepted(300.0).model_copy(update={"status": "rejected", "reason": "wrong_sharding"})
    await hand_in(database, people["ada"], rejected)
    await hand_in(database, people["bob"], accepted(None))
    await hand_in(database, people["cyd"], accepted(200.0, scored=False), kind="run")
    await hand_in(database, people["owner"], accepted(300.0).model_copy(update={"problem": "another"}))
    assert await read(service) == {"problem": "add_one", "places": [], "own": None, "users": 0}


async def test_ones_own_place_is_told_even_below_the_limit(service, people):
    database = service.services[Database]
    for name, efficiency in (("owner", 50.0), ("ada", 100.0), ("bob", 90.0)):
        await hand_in(database, people[name], accepted(efficiency))
    answer = await read(service, limit=1)
    assert places(answer) == [(1, "ada", 100.0)]
    assert (answer["own"]["place"], answer["users"]) == (3, 3)


async def test_names_are_told_and_nothing_else_of_a_person(service, people):
    await hand_in(service.services[Database], people["ada"], accepted(100.0))
    (place,) = (await read(service))["places"]
    assert set(place) == {"place", "name", "efficiency", "reached_at"}


@pytest.mark.parametrize("limit", ["0", "101", "x"])
async def test_a_wrong_limit_is_refused(service, limit):
    answer = await service.http.get(URL, params={"limit": limit}, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (422, "field-invalid")


async def test_only_people_who_are_signed_in_see_names(service):
    for path in (URL, "/problems/add_one/ranking"):
        assert (await service.http.get(path)).status_code == 401


async def test_an_unknown_problem_has_no_ranking(service):
    for path in ("/api/v1/problems/nothing/ranking", "/problems/nothing/ranking"):
        assert (await service.http.get(path, headers=service.bearer)).status_code == 404


async def test_the_page_of_a_program_problem_shows_places_and_ones_own(service, package, people):
    grade_programs(service, package)
    database = service.services[Database]
    for name, efficiency in (("ada", 104.237), ("owner", 100.0)):
        await hand_in(database, people[name], accepted(efficiency))
    page = (await service.http.get("/problems/add_one/ranking", headers=service.bearer | PAGE)).text
    for text in ("104.24", "Your place: <strong>2</strong> of 2", "The reference scores 100", ">you<"):
        assert text in page
    assert 'href="/problems/add_one/ranking"' in (await service.http.get("/problems/add_one")).text


async def test_the_page_escapes_names(service, package):
    grade_programs(service, package)
    hostile = await service.services[Accounts].add_user("<script>alert(1)</script>", "student")
    await hand_in(service.services[Database], hostile, accepted(100.0))
    page = (await service.http.get("/problems/add_one/ranking", headers=service.bearer)).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


async def test_a_problem_of_call_mode_says_that_it_has_none(service):
    page = (await service.http.get("/problems/add_one/ranking", headers=service.bearer)).text
    assert "This problem has no ranking" in page
    assert "/problems/add_one/ranking" not in (await service.http.get("/problems/add_one")).text


async def test_both_databases_rank_alike(each_database):
    users = [User(name, name, "student") for name in ("ada", "bob", "cyd")]
    async with each_database.writing() as session:
        session.add_all([UserRow(id=user.id, name=user.name, role="student", created_at=now()) for user in users])
    for user, efficiency in zip(users, (100.0, 120.0, 100.0), strict=True):
        await hand_in(each_database, user, accepted(efficiency))
    found = await ranking(each_database, "add_one", users[2], limit=2)
    assert [(place.place, place.name) for place in found.places] == [(1, "bob"), (2, "ada")]
    assert found.own is not None
    assert (found.own.place, found.users) == (2, 3)
