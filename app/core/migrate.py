"""Brings the database to the newest revision in this process, or says why that is impossible."""

import functools
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.database import Database
from app.core.settings import CHECKOUT
from app.core.start_errors import DatabaseUnusable
from grader.core.errors import WallMissing

_MIGRATIONS = CHECKOUT / "migrations"
# Any number works, as long as all servers on one PostgreSQL use the same one. They migrate one at a time.
_ADVISORY_LOCK = 0x6D657368
_REVISION = text("SELECT max(version_num) FROM alembic_version")


def migration_config(folder: Path = _MIGRATIONS) -> Config:
    """Alembic's configuration, without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


async def migrate(database: Database) -> bool:
    """Run the migrations that this database lacks, in one transaction. Returns whether it was empty.

    Raises:
      DatabaseUnusable: it is locked, was written by a newer version, is not a database, or belongs to another program.
    """
    try:
        async with database.engine.execution_options(writer=True).begin() as connection:
            return await connection.run_sync(_upgrade, database.name)
    except DBAPIError as error:
        raise explain(error, database.name) from error


async def refuse_if_outdated(session: AsyncSession) -> None:
    """Make sure that no newer version of Meshgrade has migrated the database since this process started.

    Raises:
      Outdated: one has, so this process must not conclude anything from what it cannot read.
    """
    newest = await session.scalar(_REVISION)
    if newest not in known_revisions():
        raise Outdated(newest)


class Outdated(WallMissing):
    """This process is older than the database. As with a wall, it grades nothing, and returns what it has taken."""

    def __init__(self, revision: str | None) -> None:
        super().__init__(
            "version",
            f"this process is older than the database, which a newer version brought to revision {revision}",
            "update Meshgrade on this machine, then start this process again",
        )


@functools.cache
def known_revisions() -> frozenset[str]:
    return frozenset(script.revision for script in _scripts().walk_revisions())


@functools.cache
def _newest() -> frozenset[str]:
    return frozenset(_scripts().get_heads())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(migration_config())


def _upgrade(connection: Connection, name: str) -> bool:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
    revisions = set(MigrationContext.configure(connection).get_current_heads())
    if unknown := sorted(revisions - known_revisions()):
        raise DatabaseUnusable(
            f"the database {name} was written by a newer version of Meshgrade (revision {', '.join(unknown)}).",
            "Update this checkout (git pull), or start with another data folder: --data DIR.",
        )
    if not revisions and set(inspect(connection).get_table_names()) - {"alembic_version"}:
        raise DatabaseUnusable(
            f"the database {name} contains tables of another program.",
            "Start with an empty database, or with another data folder: --data DIR.",
        )
    if revisions != _newest():
        config = migration_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    if connection.dialect.name == "postgresql" and not inspect(connection).has_table("procrastinate_jobs"):
        # The whole schema of the pinned version as it is, including percent signs. The migrations of a later version
        # belong in a revision of ours.
        connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
    return not revisions


def explain(error: DBAPIError, name: str) -> DatabaseUnusable:
    """The error to raise for a database that cannot be used at all."""
    message = str(error.orig)
    if "locked" in message:
        return DatabaseUnusable(
            f"the database {name} is locked by another program.",
            "Close the program that has it open (a database browser, a backup, another server) and start again.",
        )
    if "not a database" in message or "malformed" in message:
        return DatabaseUnusable(
            f"the file {name} is not a database, or is damaged: {message}.",
            "Restore it from a backup, or start with another data folder: --data DIR.",
        )
    return DatabaseUnusable(
        f"the database {name} cannot be opened: {message.splitlines()[0] if message else error}.",
        "Check MESHGRADE_DATABASE_URL, and make sure that this user can read and write the database.",
    )
