"""Statements that are compiled once give what SQLAlchemy gives for them."""

from datetime import timedelta

import pytest
from sqlalchemy import URL, String, bindparam, event, func, literal, select, text
from sqlalchemy.exc import DBAPIError

import app.entry.main  # noqa: F401 (imports every module that has such a statement)
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database, UTCDateTime, select_rows
from app.core.prepared_select import PreparedSelect
from app.grading.queue.models import AttemptRow

pytestmark = pytest.mark.anyio

_SENT = bindparam("sent", type_=UTCDateTime())
# Text, moments, JSON, truth values, nothing, a function, and values that are part of the statement.
_ATTEMPTS = (
    select(
        AttemptRow.id,
        AttemptRow.created_at,
        AttemptRow.own_inputs,
        AttemptRow.after_giving_up,
        AttemptRow.verdict_status,
        func.length(AttemptRow.source).label("length"),
        (AttemptRow.kind == "attempt").label("is_attempt"),
    )
    .where(AttemptRow.user_id == bindparam("user_id"), AttemptRow.created_at > _SENT, AttemptRow.kind != "rejudge")
    .order_by(AttemptRow.id)
    .limit(10)
)
_USER = select(UserRow.name).where(UserRow.name.is_not_distinct_from(bindparam("name", type_=String())))


def attempt(attempt_id: str, **columns: object) -> AttemptRow:
    own = {"user_id": "one", "problem": "p", "version": "v", "kind": "attempt", "source": "x"}
    queued = {"status": "queued", "created_at": now(), "priority": 0, "tries": 0}
    return AttemptRow(id=attempt_id, **{**own, **queued, **columns})


@pytest.fixture
async def filled(each_database):
    async with each_database.writing() as session:
        session.add(UserRow(id="one", name="one", role="student", created_at=now()))
        await session.flush()
        session.add(attempt("a", own_inputs={"seed": 1, "values": {"x": "[1, 2]"}}))
        session.add(attempt("b", kind="run"))
    return each_database


@pytest.fixture
async def empty(tmp_path):
    """SQLite without any table."""
    database = Database(URL.create("sqlite+aiosqlite", database=str(tmp_path / "file.sqlite3")))
    yield database
    await database.close()


async def test_its_rows_are_those_of_the_statement(filled):
    values = {"user_id": "one", "sent": now() - timedelta(days=1)}
    async with filled.reading() as session:
        plain = (await select_rows(session, _ATTEMPTS, values)).all()
        for _ in range(2):
            rows = (await select_rows(session, PreparedSelect(_ATTEMPTS), values)).all()
            assert rows == plain
            assert [type(each) for row in rows for each in row] == [type(each) for row in plain for each in row]
        assert [row.id for row in rows] == ["a", "b"]
        assert [row.is_attempt for row in rows] == [True, False]
        assert rows[0]._mapping == plain[0]._mapping


async def test_each_execution_has_its_own_values(filled):
    prepared = PreparedSelect(_USER)
    async with filled.reading() as session:
        found = [(await select_rows(session, prepared, {"name": name})).scalar() for name in ("one", "other", None)]
    assert found == ["one", None, None]


async def test_further_conditions_are_for_one_time(filled):
    prepared = PreparedSelect(_USER)
    assert prepared.where() is prepared
    async with filled.reading() as session:
        narrowed = prepared.where(UserRow.id == "another")
        assert (await select_rows(session, narrowed, {"name": "one"})).first() is None
        assert (await select_rows(session, prepared, {"name": "one"})).scalar() == "one"


async def test_it_is_heard_where_statements_are_counted(filled):
    heard = []
    async with filled.reading() as session:
        await session.connection()
        event.listen(filled.engine.sync_engine, "before_cursor_execute", lambda *heard_of: heard.append(heard_of[2:4]))
        await select_rows(session, PreparedSelect(_USER), {"name": "one"})
    assert len(heard) == 1
    assert "one" in str(heard[0][1])


async def test_an_error_is_that_of_every_statement(filled):
    absent = select(literal("1")).select_from(text("absent")).where(bindparam("name", type_=String()) == "one")
    raised = []
    for statement in (absent, PreparedSelect(absent)):
        with pytest.raises(DBAPIError, match="absent") as caught:
            async with filled.reading() as session:
                await select_rows(session, statement, {"name": "one"})
        raised.append((type(caught.value), type(caught.value.orig), str(caught.value)))
    assert raised[0] == raised[1]
    async with filled.reading() as session:
        assert (await select_rows(session, PreparedSelect(_USER), {"name": "one"})).scalar() == "one"


@pytest.mark.parametrize("name", ["\ud800", "a\0b"], ids=["surrogate", "NUL"])
async def test_a_text_that_cannot_be_stored_is_an_error_as_for_every_statement(filled, name):
    raised = []
    for statement in (_USER, PreparedSelect(_USER)):
        async with filled.reading() as session:
            try:
                raised.append((await select_rows(session, statement, {"name": name})).scalar())
            except (DBAPIError, UnicodeEncodeError) as error:
                raised.append((type(error), str(error)))
    assert raised[0] == raised[1]
    async with filled.reading() as session:
        assert (await select_rows(session, PreparedSelect(_USER), {"name": "one"})).scalar() == "one"


async def test_a_value_that_is_left_out_is_an_error(empty):
    async with empty.reading() as session:
        with pytest.raises(KeyError, match="name"):
            await select_rows(session, PreparedSelect(select(UserRow.id).where(UserRow.name == bindparam("name"))), {})


async def test_a_list_of_values_has_any_length(filled):
    listed = select(AttemptRow.id).where(
        AttemptRow.id.in_(bindparam("ids", expanding=True)), AttemptRow.kind.in_(("attempt", "run"))
    )
    prepared = PreparedSelect(listed.order_by(AttemptRow.id))
    lists = ([], ["a"], ["b"], ["b", "a"], ["x", "y", "a"], ["b", "%", "x' OR 1 = 1", "\u2028é", "a"])
    async with filled.reading() as session:
        for ids in lists:
            found = (await select_rows(session, prepared, {"ids": ids})).scalars().all()
            assert found == [each for each in ("a", "b") if each in ids]
    # For none, 1, 2, 4 and 8 values.
    assert len(prepared._compiled) == 5
