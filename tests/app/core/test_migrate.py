"""The database is brought up to date or refused with the reason, on SQLite and on PostgreSQL."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    URL,
    Boolean,
    Connection,
    DateTime,
    Integer,
    MetaData,
    Table,
    create_engine,
    func,
    insert,
    inspect,
    select,
    text,
)

import app.accounts.models
import app.grading.queue.models
import app.problems.models
from app.core import migrate as migrating
from app.core import migration_steps
from app.core.clock import now
from app.core.database import Base, Database
from app.core.migrate import migrate, migration_config, newest_revision, refuse_if_outdated, require_schema, works_with
from app.core.start_errors import DatabaseUnusable, SettingInvalid
from tests.app.conftest import POSTGRESQL

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a % b?.sqlite3"


def open_sqlite(file: Path) -> Database:
    return Database(URL.create("sqlite+aiosqlite", database=str(file)))


async def use(database: Database) -> None:
    """Migrate twice, compare the tables with the models, and store what PostgreSQL is strict about."""
    await migrate(database)
    await migrate(database)

    def differences(connection: Connection) -> list[object]:
        ours = {"compare_type": True, "include_name": lambda name, *_: not (name or "").startswith("procrastinate_")}
        context = MigrationContext.configure(connection, opts=ours)
        return list(compare_metadata(context, Base.metadata))

    async with database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    async with database.writing() as session:
        user = app.accounts.models.UserRow(id="u", name="u", role="owner", created_at=now())
        session.add(user)
        await session.flush()
        session.add(
            app.grading.queue.models.AttemptRow(
                id="a",
                user_id="u",
                problem="p",
                version="v",
                kind="run",
                source="x",
                status="queued",
                priority=0,
                tries=0,
                verdict={"stdout": "a\0b"},
                created_at=user.created_at,
            )
        )
    async with database.reading() as session:
        row = await session.get(app.grading.queue.models.AttemptRow, "a")
        assert row is not None
        assert row.verdict == {"stdout": "a\0b"}
        assert row.created_at == user.created_at
        assert row.created_at.tzinfo is not None


async def test_the_tables_are_those_of_the_models(empty_database):
    await use(empty_database)


async def step(database: Database, revision: str, *, down: bool = False) -> None:
    def run(connection: Connection) -> None:
        config = migration_config()
        config.attributes["connection"] = connection
        (command.downgrade if down else command.upgrade)(config, revision)

    async with database.engine.execution_options(writer=True).begin() as connection:
        await connection.run_sync(run)


# The last revision of the last release.
RELEASED = "0045"
# What an old revision did was shown when it was new, and only these files can change it.
OLD_REVISIONS = pytest.mark.rotation(
    "migrations/",
    "app/core/database.py",
    "app/core/migrate.py",
    "app/core/migration_steps.py",
    "app/core/postgresql_connections.py",
    "app/core/sqlite_connections.py",
    "tests/app/core/test_migrate.py",
    "uv.lock",
)
OLD_VERDICTS = {
    "a": ("finished", '{"status": "accepted", "stdout": "a\\u0000b"}'),
    "r": ("finished", '{"status": "rejected"}'),
    "q": ("queued", None),
}


@OLD_REVISIONS
async def test_later_revisions_keep_attempts_and_can_be_taken_back(empty_database):
    await step(empty_database, "0001")
    columns = "id, user_id, problem, version, kind, source, status, priority, tries, verdict, created_at"
    values = ":id, 'u', 'p', 'v', 'attempt', 'x', :status, 0, 0, :verdict, :at"
    async with empty_database.engine.execution_options(writer=True).begin() as connection:
        moment = now()
        await connection.execute(
            text("INSERT INTO users (id, name, role, created_at) VALUES ('u', 'u', 'owner', :at)"), {"at": moment}
        )
        for attempt_id, (status, verdict) in OLD_VERDICTS.items():
            await connection.execute(
                text(f"INSERT INTO attempts ({columns}) VALUES ({values})"),
                {"id": attempt_id, "status": status, "verdict": verdict, "at": moment},
            )
    await migrate(empty_database)
    async with empty_database.reading() as session:
        found = {each: await session.get(app.grading.queue.models.AttemptRow, each) for each in OLD_VERDICTS}
    assert {key: row.verdict_status for key, row in found.items()} == {"a": "accepted", "r": "rejected", "q": None}
    assert {row.efficiency for row in found.values()} == {None}
    assert {row.turn_at for row in found.values()} == {moment}
    assert found["a"].verdict["stdout"] == "a\0b"

    await step(empty_database, "0002", down=True)
    async with empty_database.engine.connect() as connection:
        accepted = (await connection.execute(text("SELECT id, accepted FROM attempts"))).all()
    assert {key: None if value is None else bool(value) for key, value in accepted} == {
        "a": True,
        "r": False,
        "q": None,
    }
    await step(empty_database, "0001", down=True)
    async with empty_database.engine.connect() as connection:
        columns = await connection.run_sync(lambda c: {each["name"] for each in inspect(c).get_columns("attempts")})
        indexes = await connection.run_sync(lambda c: {each["name"] for each in inspect(c).get_indexes("attempts")})
        assert (await connection.scalar(text("SELECT count(*) FROM attempts"))) == 3
    assert columns.isdisjoint({"efficiency", "accepted", "verdict_status"})
    assert "ix_attempts_problem" in indexes
    await migrate(empty_database)


REVISIONS = sorted(script.revision for script in ScriptDirectory.from_config(migration_config()).walk_revisions())


def _row(table: Table, **values: object) -> dict[str, object]:
    """A row with something in each column that must not be empty."""
    fillers = {DateTime: now(), Integer: 0, Boolean: False}
    filler = {
        column.name: next((v for k, v in fillers.items() if isinstance(column.type, k)), "x") for column in table.c
    }
    return {name: value for name, value in filler.items() if not table.c[name].nullable} | values


# Every run upgrades a database of the last release.
@pytest.mark.parametrize(
    "revision", [each if each == RELEASED else pytest.param(each, marks=OLD_REVISIONS) for each in REVISIONS]
)
async def test_every_earlier_revision_is_upgraded_with_what_it_holds(empty_database, revision):
    await step(empty_database, revision)
    async with empty_database.engine.execution_options(writer=True).begin() as connection:
        metadata = MetaData()
        await connection.run_sync(lambda c: metadata.reflect(c, only=["users", "attempts", "sessions"]))
        tables = metadata.tables
        await connection.execute(insert(tables["users"]), _row(tables["users"], id="u"))
        await connection.execute(insert(tables["attempts"]), _row(tables["attempts"], id="a", user_id="u"))
        await connection.execute(insert(tables["sessions"]), _row(tables["sessions"], user_id="u"))
    await migrate(empty_database)
    async with empty_database.reading() as session:
        assert (await session.get_one(app.grading.queue.models.AttemptRow, "a")).user_id == "u"
        assert await session.scalar(select(func.count()).select_from(app.accounts.models.SessionRow)) == 1


@OLD_REVISIONS
async def test_the_third_revision_keeps_sessions_and_tokens_and_can_be_taken_back(empty_database):
    await step(empty_database, "0002")
    async with empty_database.engine.execution_options(writer=True).begin() as connection:
        moment = {"at": now()}
        await connection.execute(
            text("INSERT INTO users (id, name, role, created_at) VALUES ('u', 'u', 'owner', :at)"), moment
        )
        for key in ("one", "two"):
            await connection.execute(text(f"INSERT INTO sessions VALUES ('{key}', 'u', :at, :at)"), moment)
            await connection.execute(text(f"INSERT INTO api_tokens VALUES ('{key}', 'u', :at, true)"), moment)
    await migrate(empty_database)
    async with empty_database.reading() as session:
        for kind in (app.accounts.models.SessionRow, app.accounts.models.APITokenRow):
            rows = [await session.get(kind, key) for key in ("one", "two")]
            assert [len(row.id) for row in rows] == [32, 32]
            assert rows[0].id != rows[1].id
        assert rows[0].scopes == "read submit account instruct"

    await step(empty_database, "0002", down=True)
    async with empty_database.engine.connect() as connection:
        for table in ("sessions", "api_tokens"):
            assert await connection.scalar(text(f"SELECT count(*) FROM {table}")) == 2
            names = await connection.run_sync(
                lambda c, table=table: {each["name"] for each in inspect(c).get_columns(table)}
            )
            assert "id" not in names
    await migrate(empty_database)


async def test_sqlite_writes_ahead(file):
    await migrate(open_sqlite(file))
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_newer_database_is_refused(file):
    await migrate(open_sqlite(file))
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseUnusable, match=r"newer version of Meshgrade \(revision 9999\)"):
        await migrate(open_sqlite(file))


async def test_a_locked_database_is_refused(file, monkeypatch):
    monkeypatch.setattr("app.core.sqlite_connections._BUSY_LIMIT_S", 0.05)
    await migrate(open_sqlite(file))
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseUnusable, match="locked by another program"):
        await migrate(open_sqlite(file))
    holder.close()


async def test_a_file_that_is_no_database_is_refused_and_kept(file):
    file.write_bytes(b"no database at all, but somebody's notes\n" * 100)
    with pytest.raises(DatabaseUnusable, match="not a database"):
        await migrate(open_sqlite(file))
    assert file.read_bytes().startswith(b"no database at all")


async def test_the_database_of_another_program_is_refused(file):
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(DatabaseUnusable, match="tables of another program"):
        await migrate(open_sqlite(file))


@pytest.mark.parametrize("url", ["nonsense", "mysql://somewhere/x"])
def test_a_wrong_url_is_refused(url):
    with pytest.raises(SettingInvalid):
        Database(url)


async def test_an_empty_database_is_created_and_an_older_one_is_not_served(empty_database):
    assert await require_schema(empty_database) is True
    assert await require_schema(empty_database) is False
    await step(empty_database, "0044", down=True)
    with pytest.raises(DatabaseUnusable, match=r"earlier version of Meshgrade \(revision 0044") as refused:
        await require_schema(empty_database)
    assert "./meshgrade migrate" in refused.value.remedy
    said: list[str] = []
    await migrate(empty_database, said.append)
    assert [line.partition(":")[0] for line in said] == [each for each in REVISIONS if each > "0044"]
    assert said[0].partition(" (")[0] == (
        "0045: When each draft was begun, so that the time that a problem takes can be measured"
    )
    assert await require_schema(empty_database) is False


async def fill_with_attempts(database: Database, number: int) -> None:
    async with database.engine.execution_options(writer=True).begin() as connection:
        await connection.execute(
            text("INSERT INTO users (id, name, role, created_at) VALUES ('u', 'u', 'owner', :at)"), {"at": now()}
        )
        rows = [
            {"id": f"{each:06}", "at": now(), "verdict": f'{{"status": "{"accepted" if each % 3 else "rejected"}"}}'}
            for each in range(number)
        ]
        columns = "id, user_id, problem, version, kind, source, status, priority, tries, verdict, created_at"
        values = ":id, 'u', 'p', 'v', 'attempt', 'x', 'finished', 0, 0, :verdict, :at"
        await connection.execute(text(f"INSERT INTO attempts ({columns}) VALUES ({values})"), rows)


async def test_a_long_migration_reports_is_readable_meanwhile_and_goes_on(empty_database, monkeypatch):
    await step(empty_database, "0001")
    await fill_with_attempts(empty_database, 1200)
    monkeypatch.setattr(migration_steps, "_REPORT", 500)
    said: list[str] = []
    reader = sync_reader(empty_database)

    class Killed(Exception):
        pass

    def note(line: str) -> None:
        said.append(line)
        # Nothing that reads has to wait for the migration.
        assert reader() == 1200
        if len(said) == 2:
            raise Killed

    with pytest.raises(Killed):
        await migrate(empty_database, note)
    assert said == ["0002: 500 of 1,200 rows of attempts", "0002: 1,000 of 1,200 rows of attempts"]
    await migrate(empty_database, note)
    assert "0005: 1,200 of 1,200 rows of attempts" in said
    async with empty_database.reading() as session:
        row = app.grading.queue.models.AttemptRow
        found = await session.execute(select(row.verdict_status, func.count()).group_by(row.verdict_status))
        assert dict(found.all()) == {"accepted": 800, "rejected": 400}


def sync_reader(database: Database) -> Callable[[], int]:
    """Counts the attempts from a connection of its own, at once or not at all."""
    url = database.engine.url
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url.set(drivername="sqlite"), connect_args={"timeout": 0})
    else:
        engine = create_engine(url, connect_args={"options": "-c lock_timeout=200ms"})

    def count() -> int:
        with engine.connect() as connection:
            return connection.scalar(text("SELECT count(*) FROM attempts")) or 0

    return count


@pytest.mark.parametrize("empty_database", [POSTGRESQL], indirect=True)
async def test_a_migration_waits_for_those_who_read(empty_database, monkeypatch):
    # SQLite's readers hold nothing that a migration needs.
    monkeypatch.setattr(migrating, "_LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(migrating, "_AGAIN_S", 0.01)
    await step(empty_database, "0044")
    said: list[str] = []
    with create_engine(empty_database.engine.url).connect() as reader:
        reader.execute(text("SELECT count(*) FROM drafts"))

        def note(line: str) -> None:
            said.append(line)
            reader.rollback()

        await migrate(empty_database, note)
    assert said[0] == "0045: other transactions hold the table; trying again"
    assert any(line.startswith("0045: When each draft was begun") for line in said)


@pytest.mark.parametrize(
    ("newer", "works"), [("9999_0045", True), ("9999_0001", True), ("9999_9998", False), ("9999", False)]
)
async def test_the_release_before_works_on_until_the_schema_says_otherwise(file, newer, works):
    database = open_sqlite(file)
    await migrate(database)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (newer,))
    async with database.reading() as session:
        if works:
            await refuse_if_outdated(session)
            assert await require_schema(database) is False
        else:
            with pytest.raises(migrating.Outdated):
                await refuse_if_outdated(session)
            with pytest.raises(DatabaseUnusable, match="newer version"):
                await require_schema(database)


def test_revisions_since_the_release_name_the_oldest_code_that_works_with_them():
    """`0046_0045`: see app/core/migrate.py. It never falls."""
    since = [each for each in REVISIONS if each > RELEASED]
    oldest = [works_with(each) for each in since]
    assert all("_" in each for each in since)
    assert oldest == sorted(oldest)
    assert newest_revision() == REVISIONS[-1]
