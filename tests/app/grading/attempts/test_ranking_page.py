"""The page of a ranking: the distribution of efficiencies, the first place, your own trend, and hidden names."""

import html

import pytest

from app.accounts.errors import NameInvalid, NameTaken
from app.accounts.identities import free_name
from app.accounts.ranking_names import set_ranking_name
from app.accounts.service import Accounts
from app.core.database import Database
from app.grading.attempts.ranking import name_of_first, ranking, trend
from app.presentation.drawings.efficiency import bins_of
from tests.app.accounts.people import PASSWORD, send_form, sign_in
from tests.app.grading.attempts.handing_in import accepted, hand_in
from tests.app.grading.attempts.test_ranking import PAGE, grade_programs, places, read

pytestmark = pytest.mark.anyio


async def seed(service, *others: str) -> dict:
    accounts = service.services[Accounts]
    people = {"owner": await accounts.ensure_owner()}
    people |= {name: await accounts.add_user(name, "student") for name in ("ada", "bob", *others)}
    scored = (("bob", 80.0), ("owner", 90.0), ("owner", 104.0), ("ada", 120.0), *((name, 100.0) for name in others))
    for name, efficiency in scored:
        await hand_in(service.services[Database], people[name], accepted(efficiency))
    return people


async def show(service) -> str:
    page = await service.http.get("/problems/add_one/ranking", headers=service.bearer | PAGE)
    assert page.status_code == 200
    return html.unescape(page.text)


async def test_the_distribution_the_first_and_ones_own_trend_in_each_database(either):
    people = await seed(either)
    database = either.services[Database]
    found = await ranking(database, "add_one", people["owner"], 100)
    assert found.counts == ((120.0, 1), (104.0, 1), (80.0, 1))
    assert found.first_at is not None
    assert await name_of_first(database, "add_one", found.first_at) == "bob"
    assert await trend(database, "add_one", people["owner"]) == (90.0, 104.0)
    assert (await ranking(database, "add_two", people["owner"], 100)).first_at is None


async def test_the_first_places_are_those_with_fewer_better_users_than_the_limit(either):
    accounts, database = either.services[Accounts], either.services[Database]
    people = {name: await accounts.add_user(name, "student") for name in ("ada", "bob", "cyd", "dan", "eve")}
    for name, efficiency in zip(people, (100.0, 110.0, 100.0, 100.0, 90.0), strict=True):
        await hand_in(database, people[name], accepted(efficiency))
    expected = [(1, "bob"), (2, "ada"), (2, "cyd"), (2, "dan"), (5, "eve")]
    for limit in range(1, 7):
        found = await ranking(database, "add_one", people["eve"], limit)
        assert [(each.place, each.name) for each in found.places] == expected[:limit]
        assert found.own is not None
        assert (found.own.place, found.users) == (5, 5)


async def test_the_page_says_in_words_what_it_draws(service, package):
    grade_programs(service, package)
    await seed(service, "cyd", "dan")
    page = await show(service)
    assert "Best efficiency of each of 5 users, from 80.00 to 120.00. Yours is 104.00." in page
    assert "Your accepted attempts in order: 90.00, 104.00." in page
    assert "First accepted: <strong>bob</strong>" in page
    assert page.count("is-own") == 1
    assert '/problems/add_one/ranking">Ranking' in (await service.http.get("/problems", headers=service.bearer)).text


async def test_fewer_than_five_are_listed_and_not_drawn(service, package):
    grade_programs(service, package)
    await seed(service, "cyd")
    page = await show(service)
    assert "Once 5 people have an accepted attempt, their efficiencies are drawn here." in page
    assert "Efficiency of all users" not in page
    assert "Your place: <strong>2</strong> of 4" in page


async def test_who_is_left_out_has_no_place_anywhere(either, package):
    grade_programs(either, package)
    people = await seed(either)
    for name in ("bob", "owner"):
        await set_ranking_name(either.services[Database], people[name], "", is_public=False)
    answer = await read(either)
    assert (places(answer), answer["own"], answer["users"]) == ([(1, "ada", 120.0)], None, 1)
    page = await show(either)
    assert "You appear in no ranking." in page
    assert "First accepted: <strong>ada</strong>" in page
    assert "bob" not in page


async def test_another_name_is_shown_instead_of_the_account(either, package):
    grade_programs(either, package)
    people = await seed(either)
    await set_ranking_name(either.services[Database], people["ada"], " Countess ", is_public=True)
    assert [place["name"] for place in (await read(either))["places"]] == ["countess", "owner", "bob"]
    page = await show(either)
    assert "countess" in page
    assert ">ada<" not in page
    for taken in ("countess", "bob", "owner", "ada"):
        other = people["bob"] if taken != "bob" else people["owner"]
        with pytest.raises(NameTaken, match=taken):
            await set_ranking_name(either.services[Database], other, taken, is_public=True)
    with pytest.raises(NameInvalid):
        await set_ranking_name(either.services[Database], people["bob"], "<b>", is_public=True)


async def test_no_account_gets_a_name_that_somebody_has_in_rankings(either, package):
    grade_programs(either, package)
    people = await seed(either)
    await set_ranking_name(either.services[Database], people["ada"], "countess", is_public=True)
    accounts = either.services[Accounts]
    invitation, _ = await accounts.invitations.create(people["owner"], "student", "", 7)
    with pytest.raises(NameTaken, match="countess"):
        await accounts.sign_up("countess", PASSWORD, invitation, "", "")
    # The invitation still works.
    assert await accounts.sign_up("count", PASSWORD, invitation, "", "")
    async with either.services[Database].reading() as session:
        assert (await free_name(session, "Countess")).startswith("countess-")


async def test_it_is_chosen_in_the_account(service):
    await sign_in(service)
    form = {"zone": "Europe/Berlin", "theme": "dark", "hidden": "on"}
    saved = await send_form(service.http, "/account", "/account/preferences", ranking_name="quiet", **form)
    assert saved.headers["location"] == "/account?changed=preferences#preferences"
    page = (await service.http.get("/account", headers=PAGE)).text
    assert 'value="quiet"' in page
    assert 'name="hidden" checked' in page
    assert 'value="dark" checked' in page
    assert "<option selected>Europe/Berlin</option>" in page
    refused = await send_form(service.http, "/account", "/account/preferences", ranking_name="x", zone="Asia/Tokyo")
    assert refused.status_code == 422
    assert 'value="x"' in refused.text
    assert "<option selected>Asia/Tokyo</option>" in refused.text
    assert "This name" in refused.text or "2 to 39 characters" in refused.text


def test_each_value_is_in_one_interval():
    values = [(80.0, 2), (81.5, 1), (100.0, 1), (119.999, 1), (120.0, 3)]
    assert sum(count for _, _, count in bins_of(values)) == 8
    assert bins_of([(100.0, 2)]) == [(100.0, 100.0, 2)]
