"""Two accounts become one: what moves, what ends, and what is refused."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.core.clock import now
from app.core.database import Database
from app.grading.comments.models import CommentRow
from app.operations.personal_data.export import owned_tables
from app.teaching.courses.models import MarkRow
from app.teaching.people.merge import _ENDING, _UNTOUCHED
from tests.app.accounts.people import PASSWORD, SITE, browser, send_form, sign_in, sign_up
from tests.app.teaching.courses.test_courses import create, join
from tests.app.teaching.people.test_attempts_of_others import GOOD
from tests.app.teaching.people.test_people import entries, id_of

pytestmark = pytest.mark.anyio
JSON = SITE | {"Accept": "application/json"}


async def test_attempts_courses_and_ways_in_move_and_access_ends(either):
    await sign_in(either)
    async with browser(either) as ada, browser(either) as old, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, old, "ada-old")
        await sign_up(either, tess, "tess", "instructor")
        course, other = await create(tess), await create(tess)
        for http, where in ((ada, course), (old, course), (old, other)):
            await join(http, where)
        for http in (ada, old):
            headers = JSON | {"Idempotency-Key": "once"}
            attempt = await http.post("/api/v1/problems/add_one/attempts", json={"source": GOOD}, headers=headers)
            assert attempt.status_code == 202, attempt.text
            saved = await http.put(
                "/api/v1/problems/add_one/draft", json={"source": f"# {id(http)}", "revision": 0}, headers=JSON
            )
            assert saved.status_code in (200, 201), saved.text
        old_id, ada_id = await id_of(either, "ada-old"), (await ada.get("/api/v1/me")).json()["id"]
        async with either.services[Database].writing() as session:
            about = {"user_id": await id_of(either, "tess"), "whom_id": old_id, "attempt_id": attempt.json()["id"]}
            session.add(CommentRow(id="c" * 32, line=1, text="why?", created_at=now(), **about))
        page = f"/people/{old_id}/merge"
        preview = (await either.http.get(page, params={"into": "ada"}, headers={"Accept": "text/html"})).text
        assert '<th scope="row">courses</th><td>1</td><td>1</td>' in preview
        assert '<th scope="row">drafts</th><td>0</td><td>1</td>' in preview
        assert '<th scope="row">attempts and runs</th><td>1</td><td>0</td>' in preview
        assert "This cannot be undone." in preview
        done = await send_form(either.http, f"{page}?into=ada", page, into="ada", reason="two accounts")
        assert done.headers["location"] == f"/people/{ada_id}?done=merge_people"
        assert (await old.get("/api/v1/me")).status_code == 401
        refused = await send_form(old, "/sign-in", "/sign-in", name="ada-old", password=PASSWORD)
        assert refused.status_code == 401
        assert len((await ada.get("/api/v1/attempts")).json()["attempts"]) == 2
        assert len((await ada.get("/api/v1/courses")).json()["courses"]) == 2
        assert str(id(ada)) in (await ada.get("/api/v1/problems/add_one/draft")).text
    assert (await entries(either))[0] == ("merged", "ada", "two accounts")
    async with either.services[Database].reading() as session:
        for table in owned_tables():
            for name in {"user_id", "whom_id"} & set(table.c.keys()):
                left = await session.scalar(select(func.count()).select_from(table).where(table.c[name] == old_id))
                assert left == 0, table.name
        [comment] = await session.scalars(select(CommentRow))
        assert comment.whom_id == ada_id


async def test_what_a_merge_refuses(either, monkeypatch):
    await sign_in(either)
    me = (await either.http.get("/api/v1/me")).json()
    async with browser(either) as ada, browser(either) as oscar:
        await sign_up(either, ada, "ada")
        await sign_up(either, oscar, "oscar", "owner")
        ada_id, oscar_id = await id_of(either, "ada"), await id_of(either, "oscar")

        async def merge(gone: str, into: str, **more: object):
            body = {"into": into} | more
            answer = await either.http.post(f"/api/v1/people/{gone}/merge", json=body, headers=JSON)
            return answer.status_code, answer.json().get("slug")

        assert await merge(ada_id, "ada") == (409, "merge-refused")
        assert await merge(ada_id, "no\0body") == (404, "person-not-found")
        assert await merge("0" * 32, "ada") == (404, "person-not-found")
        assert await merge(me["id"], "ada") == (409, "own-account")
        assert await merge(oscar_id, "ada") == (409, "merge-refused")
        page = f"/people/{oscar_id}/merge"
        shown = await either.http.get(page, params={"into": "ada"}, headers={"Accept": "text/html"})
        assert "The higher role is lost" in shown.text
        token = await either.http.post(f"/api/v1/people/{ada_id}/merge", json={"into": "oscar"}, headers=either.bearer)
        assert token.json()["slug"] == "session-needed"
        assert await merge(oscar_id, "ada", end_higher_role=True) == (200, None)
        assert (await oscar.get("/api/v1/me")).status_code == 401
        assert (await ada.get("/api/v1/me")).json()["role"] == "student"
        monkeypatch.setattr("app.accounts.recent_sign_in.now", lambda: now() + timedelta(hours=1))
        assert await merge(ada_id, me["name"]) == (403, "sign-in-again")


async def test_of_two_marks_at_one_cell_that_of_the_remaining_account_stays(either):
    await sign_in(either)
    async with browser(either) as ada, browser(either) as old, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, old, "ada-old")
        await sign_up(either, tess, "tess", "instructor")
        course = await create(tess)
        [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
        old_id, ada_id = await id_of(either, "ada-old"), (await ada.get("/api/v1/me")).json()["id"]
        common = {"assignment_id": assignment["id"], "problem": "add_one", "user_id": await id_of(either, "tess")}
        common |= {"reason": "", "is_shown": False, "at": now()}
        async with either.services[Database].writing() as session:
            for whom, kind, hundredths in ((ada_id, "bonus", 100), (old_id, "bonus", 900), (old_id, "override", 500)):
                session.add(MarkRow(whom_id=whom, kind=kind, hundredths=hundredths, **common))
        shown = await either.http.get(
            f"/people/{old_id}/merge", params={"into": "ada"}, headers={"Accept": "text/html"}
        )
        assert '<th scope="row">points and excuses by hand</th><td>1</td><td>1</td>' in shown.text
        answer = await either.http.post(f"/api/v1/people/{old_id}/merge", json={"into": "ada"}, headers=JSON)
        assert answer.status_code == 200, answer.text
    async with either.services[Database].reading() as session:
        found = {(each.whom_id, each.kind, each.hundredths) for each in await session.scalars(select(MarkRow))}
    assert found == {(ada_id, "bonus", 100), (ada_id, "override", 500)}


def test_every_table_with_a_user_moves_ends_or_stays():
    names = {table.name for table in owned_tables()}
    assert names >= _ENDING | _UNTOUCHED
