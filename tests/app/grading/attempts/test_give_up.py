"""Giving up a problem opens its editorial. Later attempts are graded and marked, but do not count."""

import asyncio

import pytest
from sqlalchemy import text

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.authoring.service import Authoring
from app.core.clock import now
from app.core.database import Database
from app.core.errors import AlreadyAccepted, ProblemNotFound
from app.core.rest.paging import Cursor
from app.grading.attempts.give_up import GiveUps
from app.grading.attempts.progress import Standing, progress, standings
from app.grading.attempts.ranking import ranking
from app.grading.attempts.service import Attempts
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import SITE, browser, form_token, send_form, sign_up
from tests.app.grading.attempts.handing_in import accepted, hand_in
from tests.app.grading.attempts.test_submit import HeldGrader
from tests.app.grading.queue.taking import TakingLeases

pytestmark = pytest.mark.anyio
PAGE = "/problems/add_one"
GIVE_UP = f"{PAGE}/give-up"


async def ada_of(service) -> User:
    return await service.services[Accounts].add_user("ada", "student")


async def submit(service, user: User, source: str, kind: str = "attempt"):
    view = await service.services[Attempts].submit(user, "add_one", source, kind)
    while (view := await service.services[Attempts].get(user, view.id)).status != "finished":
        await asyncio.sleep(0.01)
    return view


async def test_what_is_sent_afterwards_is_graded_and_does_not_count(either, package):
    ada, services = await ada_of(either), either.services
    wrong = await submit(either, ada, package.starter)
    assert (wrong.score, wrong.after_giving_up) == (0, False)
    moment = await services[GiveUps].give_up(ada, "add_one")
    late = await submit(either, ada, package.reference)
    assert late.verdict is not None
    assert (late.verdict.status, late.verdict.score) == ("accepted", 100)
    assert (late.score, late.after_giving_up) == (None, True)
    assert late.created_at >= moment
    assert await standings(services[Database], ada) == {"add_one": Standing(0, False)}
    assert [each.after_giving_up for each in await services[Attempts].list(ada, Cursor())] == [True, False]
    # A run has no score in any case, so there is nothing to say about it.
    assert not (await submit(either, ada, package.reference, "run")).after_giving_up
    other = await services[Accounts].add_user("bob", "student")
    assert (await submit(either, other, package.reference)).score == 100


async def test_the_first_time_counts_and_a_solved_problem_cannot_be_given_up(either, package):
    ada, give_ups = await ada_of(either), either.services[GiveUps]
    assert await give_ups.at(ada, "add_one") is None
    moments = await asyncio.gather(*(give_ups.give_up(ada, "add_one") for _ in range(4)))
    assert set(moments) == {await give_ups.at(ada, "add_one")}
    bob = await either.services[Accounts].add_user("bob", "student")
    await submit(either, bob, package.reference)
    with pytest.raises(AlreadyAccepted, match="already open"):
        await give_ups.give_up(bob, "add_one")
    assert await give_ups.at(bob, "add_one") is None
    with pytest.raises(ProblemNotFound):
        await give_ups.give_up(ada, "add_two")


async def test_what_is_being_graded_at_that_moment_counts(start_service, package):
    grader = HeldGrader()
    async with start_service(grader) as service:
        ada, attempts = await ada_of(service), service.services[Attempts]
        early = await attempts.submit(ada, "add_one", package.reference, "attempt")
        await service.services[GiveUps].give_up(ada, "add_one")
        late = await attempts.submit(ada, "add_one", package.reference, "attempt")
        grader.go.set()
        while (await attempts.get(ada, late.id)).status != "finished":
            await asyncio.sleep(0.01)
        early, late = await attempts.get(ada, early.id), await attempts.get(ada, late.id)
        assert (early.score, late.score) == (100, None)
        assert await standings(service.services[Database], ada) == {"add_one": Standing(100, True)}


async def test_an_efficient_program_sent_afterwards_is_not_ranked_even_if_its_worker_dies(either):
    ada, database = await ada_of(either), either.services[Database]
    await hand_in(database, ada, accepted(90.0))
    row = AttemptRow(
        id="f" * 32,
        user_id=ada.id,
        problem="add_one",
        version="v",
        kind="attempt",
        source="x",
        status="queued",
        priority=0,
        tries=0,
        created_at=now(),
        after_giving_up=True,
    )
    leases = TakingLeases(database, lease_s=30, retry_s=2)
    lease = await leases.take_new(row)
    assert await leases.finish(lease, accepted(200.0))
    [place] = (await ranking(database, "add_one", ada, 10)).places
    assert place.efficiency == 90.0
    assert await either.services[Authoring].judged_by_others("add_one", "w") == 1


async def test_the_page_asks_first_and_says_what_it_means(service, package):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        page = (await http.get(PAGE)).text
        assert f'<a class="button" href="{GIVE_UP}">Give up and read it</a>' in page
        assert "EDITORIAL-SECRET" not in page
        asks = (await http.get(GIVE_UP)).text
        assert "ends your scoring on this problem. You cannot undo it" in asks
        assert "The 2 hints are free" in asks
        assert "Your best score" not in asks
        answer = await send_form(http, GIVE_UP, GIVE_UP)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{PAGE}#the-editorial")
        for path in (PAGE, f"{PAGE}/editorial"):
            page = (await http.get(path)).text
            assert "You gave up on this problem on" in page
            assert '<div class="prose" id="the-editorial">' in page
            assert "EDITORIAL-SECRET" in page
            assert GIVE_UP not in page
        # There is nothing left to ask.
        assert (await http.get(GIVE_UP)).headers["location"] == f"{PAGE}#the-editorial"
        form = {"form_token": form_token(page := (await http.get(PAGE)).text), "action": "submit", "revision": "0"}
        sent = await http.post(PAGE, data=form | {"source": package.reference}, headers=SITE)
        late = sent.headers["location"]
        while "Refresh" in (page := (await http.get(late)).text):
            await asyncio.sleep(0.01)
        assert "You had given up on this problem before you sent this" in page
        assert "You had given up on this problem before you sent this" in (await http.get(f"{late}/verdict")).text
        for path in ("/attempts", PAGE):
            assert 'attempt <span class="soft small">after giving up</span>' in (await http.get(path)).text


async def test_asking_changes_nothing(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        await http.get(GIVE_UP)
        assert (await http.post(GIVE_UP, headers=SITE, data={"x": "1"})).status_code == 403
        assert "EDITORIAL-SECRET" not in (await http.get(PAGE)).text
        assert (await send_form(http, GIVE_UP, GIVE_UP)).status_code == 303
    async with browser(service) as nobody:
        assert (await nobody.get(GIVE_UP)).status_code == 401
        assert GIVE_UP not in (await nobody.get(PAGE)).text
        await sign_up(service, nobody, "bob")
        assert "EDITORIAL-SECRET" not in (await nobody.get(PAGE)).text


async def test_the_best_score_before_it_is_named_and_an_accepted_one_leaves_nothing_to_give_up(service, package):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        url = "/api/v1/problems/add_one/attempts?wait=60"
        await http.post(url, json={"source": package.starter}, headers=SITE)
        assert "Your best score is 0 of 100" in (await http.get(GIVE_UP)).text
        token = form_token((await http.get(GIVE_UP)).text)
        await http.post(url, json={"source": package.reference}, headers=SITE)
        assert (await http.get(GIVE_UP)).headers["location"] == f"{PAGE}#the-editorial"
        # The confirmation page was open while the attempt was accepted.
        assert (await http.post(GIVE_UP, data={"form_token": token}, headers=SITE)).status_code == 303
        assert "You gave up" not in (await http.get(PAGE)).text
        assert (await http.get(f"{PAGE}x/give-up")).status_code == 404


async def test_it_is_exported_and_goes_with_its_user(either):
    async with browser(either) as http:
        await sign_up(either, http, "ada")
        await send_form(http, GIVE_UP, GIVE_UP)
        [stored] = (await http.get("/api/v1/me/export")).json()["give_ups"]
        assert stored["problem"] == "add_one"
        assert (await http.delete("/api/v1/me?name=ada", headers=SITE)).status_code == 204
    async with either.services[Database].reading() as session:
        assert (await session.execute(text("SELECT count(*) FROM give_ups"))).scalar_one() == 0


async def test_progress_says_that_it_was_given_up(either):
    owner = await either.services[Accounts].ensure_owner()
    await either.http.post("/api/v1/problems/add_one/runs?wait=60", json={"source": "x"}, headers=either.bearer)
    assert not (await progress(either.services[Database], owner))["add_one"].gave_up
    await either.services[GiveUps].give_up(owner, "add_one")
    assert (await progress(either.services[Database], owner))["add_one"].gave_up
