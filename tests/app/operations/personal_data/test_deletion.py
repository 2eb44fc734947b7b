"""Deleting an account, after a confirmation, deletes all its data. The last owner's account stays."""

import asyncio
import threading

import pytest
from sqlalchemy import func, select

from app.accounts.errors import LastOwner
from app.accounts.models import UserRow
from app.accounts.service import Accounts
from app.core.database import Base, Database
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import GradeQueue
from app.operations.personal_data.deletion import delete_account
from app.operations.personal_data.export import owned_tables
from tests.app.accounts.people import PASSWORD, SITE, browser, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"


async def rows_of(service, user_id: str) -> int:
    async with service.services[Database].reading() as session:
        users = Base.metadata.tables["users"]
        count = await session.scalar(select(func.count()).select_from(users).where(users.c.id == user_id))
        for table in owned_tables():
            count += await session.scalar(select(func.count()).select_from(table).where(table.c.user_id == user_id))
    return count


async def test_nothing_is_left_of_it(service):
    async with browser(service) as http:
        await sign_up(service, http, "grace", "instructor")
        me = (await http.get(ME)).json()["id"]
        await http.post("/api/v1/problems/add_one/runs?wait=60", json={"source": "x"}, headers=SITE)
        await http.post("/api/v1/invitations", json={}, headers=SITE)
        await http.post("/api/v1/tokens", json={"name": "x", "scopes": ["read"]}, headers=SITE)
        assert await rows_of(service, me) == 6
        cookie = http.cookies["meshgrade_session"]
        answer = await send_form(http, "/account/delete", "/account/delete", password=PASSWORD)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert await rows_of(service, me) == 0
        http.cookies.set("meshgrade_session", cookie)
        assert (await http.get(ME)).status_code == 401
        refused = await send_form(http, "/sign-in", "/sign-in", name="grace", password=PASSWORD)
        assert refused.status_code == 401


async def test_the_password_is_asked_for_again(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        for fields in ({"password": "wrong"}, {"name": "ada"}, {}):
            answer = await send_form(http, "/account/delete", "/account/delete", **fields)
            assert answer.status_code == 401
        assert (await http.get(ME)).status_code == 200


async def test_over_rest_the_name_is(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        json = SITE | {"Accept": "application/json"}
        assert (await http.delete(ME, headers=json)).json()["slug"] == "field-missing"
        assert (await http.delete(f"{ME}?name=owner", headers=json)).json()["slug"] == "name-differs"
        assert (await http.delete(f"{ME}?name=ada", headers=json)).status_code == 204
        assert (await http.get(ME)).status_code == 401


async def test_the_last_owner_stays(service):
    refused = await service.http.delete(f"{ME}?name=owner", headers=service.bearer)
    assert (refused.status_code, refused.json()["slug"]) == (409, "last-owner")
    await sign_in(service)
    page = await send_form(service.http, "/account/delete", "/account/delete", name="owner")
    assert page.status_code == 409
    async with browser(service) as http:
        await sign_up(service, http, "second", "owner")
        assert (await service.http.delete(f"{ME}?name=owner", headers=service.bearer)).status_code == 204
        assert (await http.get(ME)).json()["role"] == "owner"


async def test_of_two_last_owners_who_leave_at_once_one_stays(service):
    accounts = service.services[Accounts]
    owners = [await accounts.ensure_owner(), await accounts.add_user("second", "owner")]
    answers = await asyncio.gather(
        *(delete_account(service.services[Database], service.services[GradeQueue], owner) for owner in owners),
        return_exceptions=True,
    )
    assert sorted(type(answer) for answer in answers if answer) == [LastOwner]
    async with service.services[Database].reading() as session:
        assert len(list(await session.scalars(select(UserRow)))) == 1


async def test_what_is_being_graded_is_stopped(start_service):
    begun, stopped = threading.Event(), threading.Event()

    class Stuck(NullGrader):
        def judge(self, package, source, context, **options):
            begun.set()
            if context.stop.wait(60):
                stopped.set()
            return super().judge(package, source)

    async with start_service(Stuck()) as service, browser(service) as http:
        await sign_up(service, http, "ada")
        user = await service.services[Accounts].user_of_session(http.cookies["meshgrade_session"])
        for _ in range(2):
            await http.post("/api/v1/problems/add_one/runs", json={"source": "x"}, headers=SITE)
        await asyncio.to_thread(begun.wait, 60)
        await http.delete(f"{ME}?name=ada", headers=SITE)
        assert await asyncio.to_thread(stopped.wait, 60)
        assert await rows_of(service, user.id) == 0
