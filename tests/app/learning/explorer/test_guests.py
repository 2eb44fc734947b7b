"""A guest explores small meshes, a few times an hour, and sees nothing but what their browser sent."""

import asyncio

import pytest

from tests.app.accounts.people import SITE, browser, form_token, sign_up
from tests.app.learning.explorer.conftest import Measuring, Waiting

pytestmark = pytest.mark.anyio
URL = "/api/v1/explorations"


def function(devices: int) -> dict:
    return {"name": "f", "mesh": {"x": devices}, "inputs": [{"name": "x", "dtype": "float32", "shape": [256]}]}


async def arrive(http) -> str:
    return form_token((await http.get("/explore")).text)


async def ended(http, address: str) -> str:
    while 'data-live-part="going"' in (page := (await http.get(address)).text):
        await asyncio.sleep(0.02)
    return page


async def test_a_guest_explores_from_the_page_and_deletes_it(start_service):
    async with start_service(Measuring()) as service, browser(service) as http:
        page = (await http.get("/explore?problem=move_mean")).text
        assert "up to 8 devices without an account" in page
        assert "Your explorations" not in page
        form = {"form_token": form_token(page), "problem": "move_mean", "source": "gather = 1\n"}
        sent = await http.post("/explore", data=form, headers=SITE)
        assert sent.status_code == 303
        page = await ended(http, sent.headers["location"])
        assert "all-gather" in page
        assert "Only this browser can read this page" in page
        for missing in ("/share", "/restore", "(guest)"):
            assert missing not in page
        assert sent.headers["location"] in (await http.get("/explore")).text
        removed = await http.post(
            f"{sent.headers['location']}/remove", data={"form_token": form_token(page)}, headers=SITE
        )
        assert removed.status_code == 303
        assert "Your explorations" not in (await http.get("/explore")).text


async def test_nobody_else_reads_cancels_or_shares_it(start_service):
    grader = Waiting()
    async with start_service(grader) as service, browser(service) as http, browser(service) as other:
        await arrive(http)
        await arrive(other)
        sent = await http.post(URL, json={"problem": "move_mean", "source": "SOURCE-OF-A-GUEST"}, headers=SITE)
        assert sent.status_code == 202
        own = sent.json()["id"]
        for path in (f"{URL}/{own}", f"/explore/{own}", f"/explore?exploration={own}"):
            for who, status in ((other, 401), (service.http, 401)):
                seen = await who.get(path)
                assert (seen.status_code, "SOURCE-OF-A-GUEST" in seen.text) == (status, False)
            assert (await service.http.get(path, headers=service.bearer)).status_code == 404
        assert own not in (await other.get("/explore")).text
        assert (await other.delete(f"{URL}/{own}", headers=SITE)).status_code == 401
        assert (await http.put(f"{URL}/{own}/sharing", headers=SITE)).status_code == 401
        assert (await http.get(URL)).status_code == 401
        await asyncio.to_thread(grader.begun.wait)
        assert (await http.delete(f"{URL}/{own}", headers=SITE)).status_code == 204
        await asyncio.to_thread(grader.stopped.wait)
        await sign_up(service, http, "ada")
        assert (await http.get(f"/explore/{own}")).status_code == 404


@pytest.mark.parametrize(("fields", "why"), [({"devices": 16}, "may have 8 devices"), ({"chip": "v5e"}, "for chips")])
async def test_large_meshes_and_tpus_need_an_account(start_service, fields, why):
    body = {"function": function(fields.get("devices", 8)), "chip": fields.get("chip"), "source": "x = 1"}
    async with start_service(Measuring()) as service, browser(service) as http:
        await arrive(http)
        refused = await http.post(URL, json=body, headers=SITE)
        assert refused.status_code == 401
        assert why in refused.json()["detail"]
        assert (await service.http.post(URL, json=body, headers=service.bearer)).status_code == 202


async def test_runs_and_explorations_are_counted_together(start_service):
    async with start_service(Measuring(), guest_runs_per_address=2) as service, browser(service) as http:
        await arrive(http)
        body = {"function": function(8), "source": "x = 1"}
        assert (await http.post(URL, json=body, headers=SITE)).status_code == 202
        assert (await http.post("/api/v1/problems/add_one/runs", json={"source": "x"}, headers=SITE)).status_code == 202
        refused = await http.post(URL, json=body, headers=SITE)
        assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-guest-runs")
        assert int(refused.headers["Retry-After"]) > 0
        # Somebody with an account explores on.
        assert (await service.http.post(URL, json=body, headers=service.bearer)).status_code == 202


async def test_one_that_is_replaced_before_it_begins_is_not_counted(start_service):
    grader = Waiting()
    async with start_service(grader, guest_runs_per_address=2) as service, browser(service) as http:
        token = await arrive(http)

        async def type_more(source: str, replaces: str) -> tuple[int, str]:
            form = {"form_token": token, "problem": "move_mean", "source": source, "replaces": replaces}
            sent = await http.post("/explore", data=form, headers=SITE)
            return sent.status_code, sent.headers.get("location", "").rpartition("/")[2]

        assert (await type_more("begun = 1", ""))[0] == 303
        await asyncio.to_thread(grader.begun.wait)
        status, waiting = await type_more("typed = 1", "")
        for number in range(2, 6):
            status, waiting = await type_more(f"typed = {number}", waiting)
            assert status == 303
        assert (await type_more("another = 1", ""))[0] == 429
        grader.go.set()
        await ended(http, f"/explore/{waiting}")
        assert grader.inspected == ["begun = 1", "typed = 5"]
        # This one was begun, so it was counted.
        assert (await type_more("typed = 6", waiting))[0] == 429


async def test_a_user_goes_before_guests(start_service):
    grader = Waiting()
    async with start_service(grader) as service, browser(service) as http:
        await arrive(http)
        for source in ("first = 1", "guest = 1"):
            await http.post(URL, json={"problem": "move_mean", "source": source}, headers=SITE)
            await asyncio.to_thread(grader.begun.wait)
        sent = await service.http.post(URL, json={"problem": "move_mean", "source": "user = 1"}, headers=service.bearer)
        grader.go.set()
        await ended(service.http, sent.headers["location"].replace("/api/v1/explorations", "/explore"))
        while len(grader.inspected) < 3:
            await asyncio.sleep(0.02)
        assert grader.inspected == ["first = 1", "user = 1", "guest = 1"]
