"""A page asks the database each question once, in one transaction, and writes nothing."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import event

from app.core.database import Database
from tests.app.accounts.people import sign_up

pytestmark = pytest.mark.anyio
PAGES = ("/problems", "/problems/add_one", "/attempts", "/attempts/{id}")


async def test_each_statement_is_executed_once(either):
    await sign_up(either, either.http, "ada")
    sent = await either.http.post(
        "/api/v1/problems/add_one/attempts",
        json={"source": "def add_one(x): return x - 1\n"},
        headers={"Origin": "http://meshgrade.test"},
        params={"wait": 60},
    )
    this = asyncio.current_task()
    for page in PAGES:
        path = page.replace("{id}", sent.json()["id"])
        # What all readers share is read with the first request.
        assert (await either.http.get(path)).status_code == 200
        executed: list[tuple[str, Any]] = []
        engine = either.services[Database].engine.sync_engine

        def note(connection, cursor, statement, parameters, context, many, into=executed) -> None:
            # Work in the background has tasks of its own.
            if asyncio.current_task() is this:
                into.append((statement, repr(parameters)))

        event.listen(engine, "before_cursor_execute", note)
        await either.http.get(path)
        event.remove(engine, "before_cursor_execute", note)
        asked = [each for each in executed if each[0].startswith("SELECT")]
        assert len(asked) > 1, "the caller, and what the page is about"
        assert len(asked) == len({statement for statement, _ in asked}), page
        assert not [each for each, _ in executed if not each.startswith(("SELECT", "BEGIN"))], page
