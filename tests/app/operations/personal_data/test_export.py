"""An export contains all data about a person, no secret, and nothing about anyone else."""

import json

import pytest

from app.accounts.models import SessionRow, UserRow
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Base
from app.grading.queue.models import AttemptRow
from app.operations.personal_data.export import export_of, owned_tables
from tests.app.accounts.people import PASSWORD, browser, sign_in, sign_up

pytestmark = pytest.mark.anyio
EXPORT = "/api/v1/me/export"


async def test_everything_of_mine_and_no_secret(service):
    await sign_in(service)
    source = {"source": "x = 'OF-THE-OWNER'"}
    await service.http.post("/api/v1/problems/add_one/runs?wait=60", json=source, headers=service.bearer)
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        accounts = service.services[Accounts]
        caller = await accounts.sessions.caller(http.cookies["meshgrade_session"])
        token, _ = await accounts.tokens.create(caller, "laptop", ["submit"], None)
        bearer = {"Authorization": f"Bearer {token}"}
        source = {"source": "x = 'of-ada \N{SNOWMAN}'"}
        await http.post("/api/v1/problems/add_one/attempts?wait=60", json=source, headers=bearer)
        page = await http.get("/account/export")
        api = await http.get(EXPORT)
        stored = json.loads(api.text)
        assert json.loads(page.text) | {"exported_at": ""} == stored | {"exported_at": ""}
        assert page.headers["content-disposition"].startswith('attachment; filename="meshgrade-')
        assert page.headers["cache-control"] == "no-store"
        session = http.cookies["meshgrade_session"]
    assert set(stored) == {"exported_at", "users", *(table.name for table in owned_tables())}
    assert [user["name"] for user in stored["users"]] == ["ada"]
    assert [each["name"] for each in stored["api_tokens"]] == ["laptop"]
    assert [each["user_agent"] for each in stored["sessions"]] == ["Test browser"]
    [attempt] = stored["attempts"]
    assert attempt["source"] == source["source"]
    assert attempt["verdict"]["status"] in {"accepted", "rejected"}
    for secret in (token, session, PASSWORD, "argon2", "_hash", "OF-THE-OWNER"):
        assert secret not in api.text
    assert "fence_token" not in attempt


async def test_it_is_read_in_pages_in_each_database(each_database):
    moment = now()
    async with each_database.writing() as session:
        users = [UserRow(id=each, name=each, role="student", created_at=moment) for each in ("ada", "bob")]
        session.add_all(users)
        await session.flush()
        for number in range(123):
            session.add(
                AttemptRow(
                    id=f"{number:05}",
                    user_id="bob" if number % 10 == 0 else "ada",
                    problem="p",
                    version="v",
                    kind="run",
                    source="x",
                    status="queued",
                    priority=0,
                    tries=0,
                    created_at=moment,
                )
            )
        session.add(
            SessionRow(token_hash="h", id="i", user_id="ada", user_agent='"\\\n', created_at=moment, expires_at=moment)
        )
    chunks = [chunk async for chunk in export_of(each_database, users[0])]
    stored = json.loads(b"".join(chunks))
    assert [each["id"] for each in stored["attempts"]] == [f"{number:05}" for number in range(123) if number % 10]
    assert stored["sessions"][0]["user_agent"] == '"\\\n'
    assert stored["invitations"] == []
    assert len(chunks) > 100


def test_every_table_that_points_at_a_user_calls_the_column_so_and_goes_with_the_user():
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_keys:
            if key.column.table.name == "users":
                # What was published, and what was done to others, concerns more people, so it stays without the name.
                stays = table.name in {"announcements", "audit_log", "publications"}
                # A comment goes with the account of whom it is for, and so do points that were changed by hand.
                stays |= table.name in {"comments", "score_overrides", "cell_marks"} and key.parent.name == "user_id"
                assert key.ondelete == ("SET NULL" if stays else "CASCADE"), table.name
                assert key.parent.name in {"user_id", "whom_id"}, table.name
                assert "user_id" in table.c, table.name
