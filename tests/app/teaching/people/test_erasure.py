"""Owners erase a person; of an owner, two of them."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from app.accounts.audit.models import AuditRow
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.operations.personal_data.export import owned_tables
from tests.app.accounts.people import SITE, browser, send_form, sign_in, sign_up
from tests.app.conftest import run_as_owner
from tests.app.teaching.courses.test_courses import create, join
from tests.app.teaching.people.test_attempts_of_others import GOOD
from tests.app.teaching.people.test_people import entries, id_of

pytestmark = pytest.mark.anyio
JSON = SITE | {"Accept": "application/json"}


async def test_nothing_of_the_person_remains(either):
    await sign_in(either)
    async with browser(either) as ada, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, tess, "tess", "instructor")
        await join(ada, await create(tess))
        attempt = await ada.post("/api/v1/problems/add_one/attempts", json={"source": GOOD}, headers=JSON)
        ada_id = await id_of(either, "ada")
        exported = (await either.http.get(f"/api/v1/people/{ada_id}/export")).json()
        assert [each["id"] for each in exported["attempts"]] == [attempt.json()["id"]]
        assert (await entries(either))[0] == ("exported", "ada", "")
        downloaded = await either.http.get(f"/people/{ada_id}/export")
        assert json.loads(downloaded.text).keys() == exported.keys()
        assert "attachment" in downloaded.headers["Content-Disposition"]
        page = f"/people/{ada_id}/erase"
        shown = await either.http.get(page, headers={"Accept": "text/html"})
        assert "This cannot be undone." in shown.text
        refused = await send_form(either.http, page, page, name="adda", reason="asked by mail")
        assert "Nothing was erased" in refused.text
        assert 'value="adda"' in refused.text
        done = await send_form(either.http, page, page, name="ada", reason="asked by mail")
        assert (done.status_code, done.headers["location"]) == (303, "/people")
        assert (await ada.get("/api/v1/me")).status_code == 401
    async with either.services[Database].reading() as session:
        for table in owned_tables():
            for name in {"user_id", "whom_id"} & set(table.c.keys()):
                left = await session.scalar(select(func.count()).select_from(table).where(table.c[name] == ada_id))
                assert left == 0, table.name
        newest = await session.scalar(select(AuditRow).order_by(AuditRow.at.desc()).limit(1))
        assert (newest.action, newest.whom_id, newest.detail, newest.reason) == (
            "erased",
            None,
            "student",
            "asked by mail",
        )


async def test_an_owner_is_erased_by_two_others(either):
    await sign_in(either)
    async with browser(either) as oscar, browser(either) as olga:
        await sign_up(either, oscar, "oscar", "owner")
        await sign_up(either, olga, "olga", "owner")
        oscar_id = await id_of(either, "oscar")

        async def erase(http) -> tuple[int, str | None]:
            answer = await http.post(f"/api/v1/people/{oscar_id}/erase", json={"name": "oscar"}, headers=JSON)
            return answer.status_code, answer.json().get("status")

        assert await erase(either.http) == (200, "requested")
        # Asking twice does not make two of one.
        assert await erase(either.http) == (200, "requested")
        assert (await oscar.get("/api/v1/me")).status_code == 200
        page = (await olga.get(f"/people/{oscar_id}/erase", headers={"Accept": "text/html"})).text
        assert "If you do as well, oscar is erased." in page
        old = update(AuditRow).values(at=now() - timedelta(days=8))
        await run_as_owner(either.services[Database], old)
        # It was too long ago, so this is the first again.
        assert await erase(olga) == (200, "requested")
        async with either.services[Database].writing() as session:
            await session.execute(update(UserRow).where(UserRow.name == "olga").values(role="student"))
        # She is no longer an owner.
        assert await erase(either.http) == (200, "requested")
        async with either.services[Database].writing() as session:
            await session.execute(update(UserRow).where(UserRow.name == "olga").values(role="owner"))
        assert await erase(olga) == (200, "erased")
        assert (await oscar.get("/api/v1/me")).status_code == 401


async def test_what_an_erasure_refuses(either):
    await sign_in(either)
    me = (await either.http.get("/api/v1/me")).json()
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        for person, name, refusal in (
            (me["id"], me["name"], (409, "own-account")),
            (await id_of(either, "ada"), "bob", (409, "name-differs")),
            ("0" * 32, "ada", (404, "person-not-found")),
            ("guest", "(guest)", (404, "person-not-found")),
        ):
            answer = await either.http.post(f"/api/v1/people/{person}/erase", json={"name": name}, headers=JSON)
            assert (answer.status_code, answer.json().get("slug")) == refusal
            assert (await either.http.get(f"/api/v1/people/{person}/export")).status_code == (
                404 if refusal[0] == 404 else 200
            )
