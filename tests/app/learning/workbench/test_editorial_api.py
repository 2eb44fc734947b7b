"""Hints are public over REST. The editorial opens to those who have solved the problem or given it up."""

import pytest

from tests.app.accounts.people import SITE, browser, sign_up

pytestmark = pytest.mark.anyio
PROBLEM = "/api/v1/problems/add_one"


async def ask(service, method: str, path: str, **options):
    return await service.http.request(method, f"{PROBLEM}{path}", headers=service.bearer, **options)


async def test_hints_are_for_everybody_and_may_be_kept(service):
    first = await service.http.get(f"{PROBLEM}/hints")
    assert first.json() == {"problem": "add_one", "hints": ["It is more than zero.", "It is less than two."]}
    again = await service.http.get(f"{PROBLEM}/hints", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    # Neither the problem nor the list contains them.
    assert (await service.http.get(PROBLEM)).json()["hints"] == 2
    missing = await service.http.get("/api/v1/problems/add_two/hints")
    assert (missing.status_code, missing.json()["slug"]) == (404, "problem-not-found")


async def test_the_editorial_is_closed_until_the_problem_is_solved(either, package):
    for source in (None, package.starter):
        if source:
            await ask(either, "POST", "/attempts?wait=60", json={"source": source})
        closed = await ask(either, "GET", "/editorial")
        assert (closed.status_code, closed.json()["slug"]) == (403, "editorial-closed")
        assert "EDITORIAL-SECRET" not in closed.text
    await ask(either, "POST", "/attempts?wait=60", json={"source": package.reference})
    opened = await ask(either, "GET", "/editorial")
    assert opened.json() == {"problem": "add_one", "editorial": "EDITORIAL-SECRET", "gave_up_at": None}
    refused = await ask(either, "POST", "/give-up", json={"confirm": True})
    assert (refused.status_code, refused.json()["slug"]) == (409, "already-accepted")


async def test_giving_up_opens_it_for_oneself_alone(either, package):
    gave_up = await ask(either, "POST", "/give-up", json={"confirm": True})
    assert gave_up.status_code == 200
    moment = gave_up.json()["gave_up_at"]
    assert (await ask(either, "POST", "/give-up", json={"confirm": True})).json() == gave_up.json()
    assert (await ask(either, "GET", "/editorial")).json()["gave_up_at"] == moment
    late = (await ask(either, "POST", "/attempts?wait=60", json={"source": package.reference})).json()
    assert (late["score"], late["after_giving_up"], late["verdict"]["score"]) == (None, True, 100)
    [listed] = (await either.http.get("/api/v1/attempts", headers=either.bearer)).json()["attempts"]
    assert (listed["score"], listed["after_giving_up"]) == (None, True)
    progress = (await either.http.get("/api/v1/me/progress", headers=either.bearer)).json()
    assert progress == {"problems": []}
    async with browser(either) as http:
        await sign_up(either, http, "ada")
        assert (await http.get(f"{PROBLEM}/editorial", headers=SITE)).status_code == 403


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        ({}, "field-missing"),
        ({"confirm": False}, "field-invalid"),
        ({"confirm": 1}, "field-invalid"),
        ({"confirm": "true"}, "field-invalid"),
        ({"confirm": True, "sure": True}, "field-unknown"),
    ],
)
async def test_only_a_clear_yes_gives_up(service, body, slug):
    refused = await ask(service, "POST", "/give-up", json=body)
    assert (refused.status_code, refused.json()["slug"]) == (422, slug)
    assert (await ask(service, "GET", "/editorial")).status_code == 403
