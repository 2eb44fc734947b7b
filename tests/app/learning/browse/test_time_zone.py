"""A time zone that a reader chose: moments are shown in it, days counted by it, and nothing else is kept."""

import re
from zoneinfo import ZoneInfo

import pytest

from app.core.clock import now
from tests.app.accounts.people import browser, send_form, sign_in

pytestmark = pytest.mark.anyio


async def choose(http, zone):
    return await send_form(http, "/account", "/account/preferences", zone=zone)


async def test_moments_and_days_are_shown_in_it(service):
    async with browser(service) as http:
        await sign_in(service, http)
        sent = await http.post("/api/v1/problems/add_one/runs?wait=60", json={"source": "x"}, headers=service.bearer)
        path = f"/attempts/{sent.json()['id']}"
        assert re.search(r"\d{4}, \d\d:\d\d UTC", (await http.get(path)).text)
        answer = await choose(http, "Asia/Kolkata")
        assert (answer.status_code, answer.headers["location"]) == (303, "/account?changed=preferences#preferences")
        assert "HttpOnly" in answer.headers["set-cookie"]
        page = (await http.get(path)).text
        assert f"{now().astimezone(ZoneInfo('Asia/Kolkata')).year}, " in page
        assert re.search(r"\d{4}, \d\d:\d\d IST", page)
        assert "<option selected>Asia/Kolkata</option>" in (await http.get("/account")).text
        progress = (await http.get("/progress")).text
        assert 'data-zone="Asia/Kolkata" data-chosen' in progress
        assert 'data-zone="UTC"' in (await http.get("/progress", params={"zone": "UTC"})).text
        assert (await http.get(f"/api/v1{path}")).json()["created_at"].endswith("Z")


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "<script>"])
async def test_only_zones_are_kept(service, zone):
    async with browser(service) as http:
        await sign_in(service, http)
        answer = await choose(http, zone)
        assert answer.status_code == 422
        assert "there is no time zone" in answer.text
        assert "meshgrade_zone" not in answer.headers.get("set-cookie", "")
        http.cookies.set("meshgrade_zone", zone, domain="meshgrade.test")
        assert "<option selected>UTC</option>" in (await http.get("/account")).text
