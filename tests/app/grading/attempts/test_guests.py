"""A guest may run without an account, a few times an hour, and sees nothing but their own runs."""

import asyncio

import pytest
from sqlalchemy import select

from app.accounts.caller import GUEST_ID, Guest, User
from app.core.database import Database
from app.core.errors import NotSignedIn
from app.grading.attempts.service import Attempts
from app.grading.owned_work import forget_networks
from app.grading.queue.models import AttemptRow, FairShareRow, Turn
from tests.app.accounts.people import SITE, browser, form_token, sign_up
from tests.app.grading.attempts.test_submit import HeldGrader

pytestmark = pytest.mark.anyio
PAGE = "/problems/add_one"
RUNS, ATTEMPTS = "/api/v1/problems/add_one/runs", "/api/v1/problems/add_one/attempts"


async def arrive(http) -> str:
    """Open the problem, as every guest does first. Returns the token of its form."""
    return form_token((await http.get(PAGE)).text)


async def run(http, source: str = "x = 1", **options):
    return await http.post(f"{RUNS}?wait=60", json={"source": source}, headers=SITE, **options)


async def test_a_guest_runs_and_reads_the_verdict(either, package):
    async with browser(either) as http:
        await arrive(http)
        await run(http)
        answer = await run(http, package.reference)
        assert (answer.status_code, answer.json()["kind"]) == (200, "run")
        assert (answer.json()["verdict"]["status"], answer.json()["score"]) == ("accepted", None)
        own = answer.json()["id"]
        assert (await http.get(f"/api/v1/attempts/{own}")).json()["id"] == own
        assert "event: verdict" in (await http.get(f"/api/v1/attempts/{own}/events")).text
        page = (await http.get(f"/attempts/{own}")).text
        assert "Sign in" in page
        assert "(guest)" not in page
        assert "All attempts at this problem" not in page
        assert "/restore" not in page
        assert "/share" not in page
        assert "Compare with" not in page
        assert (await http.get(f"/attempts/{own}/verdict")).status_code == 200


async def test_the_form_without_a_script_runs_too(service, package):
    async with browser(service) as http:
        form = {"form_token": await arrive(http), "action": "run", "revision": "0", "source": package.reference}
        sent = await http.post(PAGE, data=form, headers=SITE)
        assert sent.status_code == 303
        while "Refresh" in (page := (await http.get(sent.headers["location"])).text):
            await asyncio.sleep(0.01)
        assert 'data-status="accepted"' in page
        refused = await http.post(PAGE, data=form | {"action": "submit"}, headers=SITE)
        assert refused.status_code == 401
        assert "your code is below" in refused.text
        assert package.reference.splitlines()[0] in refused.text
        assert (await http.post(PAGE, data=form | {"form_token": "0" * 64}, headers=SITE)).status_code == 403


async def test_nobody_else_reads_or_cancels_it(start_service, package):
    grader = HeldGrader()
    async with start_service(grader) as service, browser(service) as http, browser(service) as other:
        await arrive(http)
        answer = await http.post(RUNS, json={"source": "SOURCE-OF-A-GUEST"}, headers=SITE)
        own = answer.json()["id"]
        await arrive(other)
        for path in (f"/api/v1/attempts/{own}", f"/api/v1/attempts/{own}/events", f"/attempts/{own}"):
            for who, status in ((other, 401), (service.http, 401)):
                seen = await who.get(path)
                assert (seen.status_code, "SOURCE-OF-A-GUEST" in seen.text) == (status, False)
            assert (await service.http.get(path, headers=service.bearer)).status_code == 404
        assert (await other.delete(f"/api/v1/attempts/{own}", headers=SITE)).status_code == 401
        cancelled = await http.delete(f"/api/v1/attempts/{own}", headers=SITE)
        assert cancelled.json()["status"] == "cancelled"
        # After a sign-in, the page shows the data of the account.
        await sign_up(service, http, "ada")
        assert (await http.get(f"/attempts/{own}")).status_code == 404
        assert (await http.get("/api/v1/attempts")).json()["attempts"] == []
        grader.go.set()


async def test_a_guest_reads_nothing_of_the_users_and_submits_nothing(service, package):
    sent = await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)
    async with browser(service) as http:
        await arrive(http)
        # It may be a user who has signed out.
        asked = await http.get(f"/attempts/{sent.json()['id']}")
        assert (asked.status_code, "sign in" in asked.text) == (401, True)
        for method, path in (
            ("POST", ATTEMPTS),
            ("POST", "/api/v1/batch/attempts"),
            ("GET", "/api/v1/attempts"),
            ("GET", "/attempts"),
            ("GET", "/api/v1/me"),
            ("GET", "/api/v1/problems/add_one/draft"),
            ("GET", "/api/v1/problems/add_one/editorial"),
            ("GET", f"{PAGE}/editorial"),
            ("POST", f"{PAGE}/give-up"),
            ("GET", "/progress"),
        ):
            body = {"json": {"source": "x"}} if method == "POST" else {}
            assert (await http.request(method, path, headers=SITE, **body)).status_code == 401, path
    guest = User(GUEST_ID, "(guest)", "student", Guest("b", "192.0.2.1"))
    with pytest.raises(NotSignedIn, match="you can only run"):
        await service.services[Attempts].submit(guest, "add_one", package.reference, "attempt")


async def test_without_the_cookie_of_a_page_or_from_another_site_nothing_runs(service):
    async with browser(service) as http:
        assert (await run(http)).status_code == 401
        await arrive(http)
        foreign = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
        refused = await http.post(RUNS, json={"source": "x"}, headers=foreign)
        assert (refused.status_code, refused.json()["slug"]) == (403, "origin-refused")
        assert (await http.post(RUNS, json={"source": "x"})).json()["slug"] == "origin-refused"
        # A browser whose session has ended is not a guest: its owner expects the run in the account.
        http.cookies.set("meshgrade_session", "of a session that has ended", domain="meshgrade.test")
        assert (await run(http)).status_code == 401


async def test_two_guests_with_one_key_have_two_runs(service):
    ids = set()
    for _ in range(2):
        async with browser(service) as http:
            await arrive(http)
            headers = SITE | {"Idempotency-Key": "same"}
            ids.add((await http.post(RUNS, json={"source": "x"}, headers=headers)).json()["id"])
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("limits", "where"),
    [
        ({"guest_runs_per_address": 2}, "for your network"),
        ({"guest_runs_in_total": 2}, "for this service"),
    ],
)
async def test_runs_are_limited_by_network_and_in_total(start_service, limits, where):
    async with start_service(**limits) as service:
        # Each time another browser, of one IPv6 network.
        answers = []
        for number in range(3):
            async with browser(service, client=(f"2001:db8::{number + 1}", 1)) as http:
                await arrive(http)
                answers.append(await run(http))
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        refused = answers[-1]
        assert refused.json()["slug"] == "too-many-guest-runs"
        assert (
            f"The limit of 2 runs or explorations per hour without an account is reached {where}. Sign in, or try "
            f"again in" in refused.json()["detail"]
        )
        assert 0 < int(refused.headers["retry-after"]) <= 3600
        async with browser(service, client=("2001:db8:0:1::1", 1)) as http:
            form = {"form_token": await arrive(http), "action": "run", "revision": "0", "source": "kept as typed"}
            elsewhere = await http.post(PAGE, data=form, headers=SITE)
            assert elsewhere.status_code == (303 if "per_address" in str(limits) else 429)
            if elsewhere.status_code == 429:
                assert "kept as typed</textarea>" in elsewhere.text
        # It limits nobody who is signed in.
        answer = await service.http.post(f"{RUNS}?wait=60", json={"source": "x"}, headers=service.bearer)
        assert answer.status_code == 200


async def test_what_is_refused_does_not_count(start_service):
    async with start_service(guest_runs_per_address=1) as service, browser(service) as http:
        await arrive(http)
        assert (await run(http, " ")).status_code == 422
        assert (await run(http)).status_code == 200


async def test_it_can_be_turned_off(start_service):
    async with start_service(guest_runs_in_total=0) as service, browser(service) as http:
        await arrive(http)
        assert (await run(http)).status_code == 401
        assert "to run and submit" in (await http.get(PAGE)).text
        assert "To run and submit," in (await http.get("/")).text
    async with start_service() as service, browser(service) as http:
        assert "Running needs no account" in (await http.get(PAGE)).text
        assert "Reading and running need no account." in (await http.get("/")).text


async def test_each_network_has_the_share_of_one_user_and_closes_the_queue_to_no_other(start_service):
    grader = HeldGrader()
    async with start_service(grader, max_waiting_per_user=3) as service:
        for address, sent in (("2001:db8::1", 4), ("2001:db8:0:1::1", 1)):
            for number in range(sent):
                async with browser(service, client=(address, 1)) as http:
                    await arrive(http)
                    answer = await http.post(RUNS, json={"source": "x"}, headers=SITE)
                    assert answer.status_code == (202 if number < 3 else 429)
                if number == 3:
                    assert "runs without an account are waiting from your network" in answer.json()["detail"]
        async with service.services[Database].reading() as session:
            rows = list(await session.scalars(select(AttemptRow).order_by(AttemptRow.created_at)))
            rounds = list(await session.scalars(select(FairShareRow)))
        # All have the place of attempts. Those of one network are a round apart, and the other's is among the first.
        assert {row.priority % len(Turn) for row in rows} == {Turn.ATTEMPT}
        *first, last = [row.priority // len(Turn) - rows[0].priority // len(Turn) for row in rows]
        assert (first, last <= 1) == ([0, 1, 2], True)
        assert len({row.share for row in rows}) == len(rounds) == 2
        await forget_networks(service.services[Database])
        async with service.services[Database].reading() as session:
            assert (await session.scalars(select(FairShareRow))).all() == []
        grader.go.set()
