"""The database is brought up to date or refused with the reason, on SQLite and on PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import URL, Connection, MetaData, create_engine, inspect, select, text

import app.accounts.models
import app.grading.queue.models
import app.problems.models
from app.core import migrate as migrating
from app.core.clock import now
from app.core.database import Base, Database
from app.core.migrate import known_revisions, migrate, newest_revision, refuse_if_outdated, require_schema, works_with
from app.core.start_errors import DatabaseUnusable, SettingInvalid
from tests.app.conftest import POSTGRESQL, empty

pytestmark = pytest.mark.anyio
# A service of 0.2.0 with a row in each table, as sqlite3 and pg_dump write it out. Later releases leave it as it is.
# One condition of an index is as the code has it, because PostgreSQL reads its own form of it as yet another one.
RELEASE = Path(__file__).parent / "release_0_2_0"
# The last revision of the last release.
RELEASED = "0057_0045"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a % b?.sqlite3"


def is_ours(table: str) -> bool:
    """Whether a model has it. The full-text index is the database's own."""
    return not table.startswith(("procrastinate_", "shared_answers_search"))


def open_sqlite(file: Path) -> Database:
    return Database(URL.create("sqlite+aiosqlite", database=str(file)))


async def use(database: Database) -> None:
    """Migrate twice, compare the tables with the models, and store what PostgreSQL is strict about."""
    await migrate(database)
    await migrate(database)

    def differences(connection: Connection) -> list[object]:
        ours = {"compare_type": True, "include_name": lambda name, *_: is_ours(name or "")}
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


def load_release(database: Database) -> None:
    script = (RELEASE / f"{database.engine.dialect.name}.sql").read_text(encoding="utf-8")
    if database.shared:
        with psycopg.connect(database.conninfo, autocommit=True) as connection:
            connection.execute(script)  # type: ignore[call-overload]
    else:
        with closing(sqlite3.connect(str(database.engine.url.database))) as file, file:
            file.executescript(script)


def schema_of(connection: Connection) -> dict[str, Any]:
    """Columns in their order, constraints and indexes of each table, as they are in the database."""
    found = inspect(connection)

    def named(entries: list[Any]) -> list[str]:
        for each in entries:
            # The condition of a partial index is an object, which equals only itself.
            each["dialect_options"] = {key: str(value) for key, value in each.get("dialect_options", {}).items()}
        return sorted(map(str, entries))

    return {
        table: (
            [str(each) for each in found.get_columns(table)],
            found.get_pk_constraint(table),
            named(found.get_foreign_keys(table)),
            named(found.get_unique_constraints(table)),
            named(found.get_check_constraints(table)),
            named(found.get_indexes(table)),
        )
        for table in found.get_table_names()
        if is_ours(table)
    }


def rows_in(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    metadata = MetaData()
    metadata.reflect(connection, only=lambda table, _: is_ours(table) and table != "alembic_version")
    tables = metadata.tables.values()
    return {each.name: [dict(row) for row in connection.execute(select(each)).mappings()] for each in tables}


async def test_a_service_of_the_first_release_comes_along_with_a_row_of_each_table(empty_database):
    load_release(empty_database)
    async with empty_database.engine.connect() as connection:
        before = await connection.run_sync(rows_in)
    assert {len(rows) for rows in before.values()} == {1}
    await migrate(empty_database)
    assert await require_schema(empty_database) is False
    async with empty_database.engine.connect() as connection:
        after = await connection.run_sync(rows_in)
    assert {table: [{key: row[key] for key in before[table][0]} for row in after[table]] for table in before} == before
    async with empty_database.reading() as session:
        for mapper in Base.registry.mappers:
            if mapper.local_table.name in before:
                (await session.scalars(select(mapper.class_))).one()


async def test_its_tables_become_those_of_a_new_service(empty_database):
    schemas = []
    for prepare in (lambda: load_release(empty_database), lambda: None):
        prepare()
        await migrate(empty_database)
        async with empty_database.engine.connect() as connection:
            schemas.append(await connection.run_sync(schema_of))
        await remove_all(empty_database)
    assert schemas[0] == schemas[1]


async def remove_all(database: Database) -> None:
    if database.shared:
        await empty(database)
    else:
        await database.engine.dispose()
        Path(str(database.engine.url.database)).unlink()


@pytest.mark.parametrize("revision", ["0001", "0045", "0056_0045"])
async def test_a_database_from_before_the_first_release_is_refused_with_its_revision(file, revision):
    database = open_sqlite(file)
    await migrate(database)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    why = rf"before the first release of Meshgrade \(revision {revision}\)"
    for use_it in (migrate, require_schema, migrating.has_schema):
        with pytest.raises(DatabaseUnusable, match=why) as refused:
            await use_it(database)
        assert "type git checkout 2832269c7109 and ./meshgrade migrate." in refused.value.remedy
    await database.close()


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


async def test_an_empty_database_is_created_and_an_older_one_is_not_served(empty_database, add_later_revisions):
    assert await require_schema(empty_database) is True
    assert await require_schema(empty_database) is False
    newest = newest_revision()
    add_later_revisions()
    with pytest.raises(DatabaseUnusable, match=rf"earlier version of Meshgrade \(revision {newest}") as refused:
        await require_schema(empty_database)
    assert "./meshgrade migrate" in refused.value.remedy
    said: list[str] = []
    await migrate(empty_database, said.append)
    assert [line.partition(" (")[0] for line in said] == [
        "9001_0057: Add the column colour",
        "9002_0057: Add the table hues",
    ]
    assert await require_schema(empty_database) is False


async def test_an_interrupted_migration_keeps_the_revisions_before_and_goes_on(empty_database, add_later_revisions):
    await migrate(empty_database)
    add_later_revisions()

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await migrate(empty_database, interrupt)
    said: list[str] = []
    await migrate(empty_database, said.append)
    assert [line.partition(":")[0] for line in said] == ["9002_0057"]


@pytest.mark.parametrize("empty_database", [POSTGRESQL], indirect=True)
async def test_a_migration_waits_for_those_who_read(empty_database, add_later_revisions, monkeypatch):
    # SQLite's readers hold nothing that a migration needs.
    monkeypatch.setattr(migrating, "_LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(migrating, "_AGAIN_S", 0.01)
    await migrate(empty_database)
    add_later_revisions()
    said: list[str] = []
    with create_engine(empty_database.engine.url).connect() as reader:
        reader.execute(text("SELECT count(*) FROM drafts"))

        def note(line: str) -> None:
            said.append(line)
            reader.rollback()

        await migrate(empty_database, note)
    assert said[0] == "9001_0057: other transactions hold the table; trying again"
    assert any(line.startswith("9001_0057: Add the column colour") for line in said)


@pytest.mark.parametrize(
    ("newer", "works"), [("9999_0057", True), ("9999_0001", True), ("9999_9998", False), ("9999", False)]
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


def test_revisions_since_the_release_name_the_oldest_code_that_works_with_them(add_later_revisions):
    """`0058_0057`: see app/core/migrate.py. It never falls."""
    add_later_revisions()
    since = sorted(each for each in known_revisions() if each > RELEASED)
    oldest = [works_with(each) for each in since]
    assert all("_" in each for each in since)
    assert oldest == sorted(oldest)
    assert newest_revision() == since[-1]
