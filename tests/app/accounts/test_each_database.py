"""What a person does with an account, from invitation to deletion, on each database that the service runs on."""

import json

import pytest

from tests.app.accounts.people import PASSWORD, SITE, browser, send_form, sign_up

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"


async def test_a_whole_life(start_service, each_database):
    url = None
    if each_database.engine.dialect.name == "postgresql":
        url = each_database.engine.url.render_as_string(hide_password=False)
    async with start_service(database_url=url) as service, browser(service) as http, browser(service) as other:
        await sign_up(service, http, "grace", "instructor")
        taken = await other.get("/sign-up?invitation=a%00b")
        assert taken.status_code == 403
        for password, status in (("wrong wrong", 401), (PASSWORD, 303)):
            answer = await send_form(other, "/sign-in", "/sign-in", name="grace", password=password)
            assert answer.status_code == status
        assert (await send_form(other, "/sign-in", "/sign-out")).status_code == 303
        nobody = await send_form(other, "/sign-in", "/sign-in", name="gr\0ace", password="a\0b")
        assert nobody.status_code == 401

        for name in ("a\0b", "laptop"):
            made = await http.post("/api/v1/tokens", json={"name": name, "scopes": ["read", "account"]}, headers=SITE)
        bearer = {"Authorization": f"Bearer {made.json()['token']}"}
        for kind in ("tokens", "invitations", "attempts"):
            gone = await http.delete(f"/api/v1/{kind}/a%00b", headers=SITE | {"Accept": "*/*"})
            assert (gone.status_code, gone.json()["slug"]) == (404, f"{kind[:-1]}-not-found")
        await http.post("/api/v1/invitations", json={"note": "Ada"}, headers=SITE)
        run = {"source": "x"}
        await http.post("/api/v1/problems/add_one/runs?wait=60", json=run, headers=SITE)

        changed = {"old": PASSWORD, "new": "another long password"}
        assert (await send_form(http, "/account", "/account/password", **changed)).status_code == 303
        stored = json.loads((await http.get("/api/v1/me/export", headers=bearer)).text)
        found = {name: len(rows) for name, rows in stored.items() if isinstance(rows, list) and rows}
        mine = ("users", "sessions", "api_tokens", "invitations", "attempts", "fair_shares")
        assert found == dict.fromkeys(mine, 1)
        assert (await http.delete(f"{ME}?name=grace", headers=bearer)).status_code == 204
        assert (await http.get(ME)).status_code == 401
