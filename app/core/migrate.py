"""Brings the database to the newest revision, or says why that is impossible or has yet to be done.

A revision is named after the oldest one whose code still works on its schema: `0058_0057` does not disturb code whose
newest revision is 0057. So the previous release keeps running while the database is migrated and the processes are
replaced.
"""

import functools
import time
from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.database import Database
from app.core.database_roles import renew_grants
from app.core.settings import CHECKOUT
from app.core.start_errors import DatabaseUnusable, RightsMissing
from grader.core.errors import WallMissing

_MIGRATIONS = CHECKOUT / "migrations"
# Any number works, as long as all servers on one PostgreSQL use the same one. They migrate one at a time.
_ADVISORY_LOCK = 0x6D657368
_REVISION = text("SELECT max(version_num) FROM alembic_version")
_NO_RIGHT = "42501"
# A change of a table waits for every transaction that reads it, and later readers wait behind the change.
_LOCK_TIMEOUT = "3s"
_LOCK_NOT_AVAILABLE = "55P03"
_TRIES = 60
_AGAIN_S = 1.0
# It has the revisions from before the first release.
_COMMIT_BEFORE_RELEASES = "2832269c7109"
Say = Callable[[str], None]


def migration_config(folder: Path = _MIGRATIONS) -> Config:
    """Alembic's configuration, without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _silent(line: str) -> None:
    pass


async def migrate(database: Database, say: Say = _silent) -> None:
    """Run the migrations that this database lacks, each in a transaction of its own.

    Args:
      say: gets a line for each revision.
    Raises:
      DatabaseUnusable: it is locked, was written by a newer version or before the first release, is not a database, or
        belongs to another program. The revisions before are kept, so it can be called again.
    """
    try:
        async with database.engine.execution_options(writer=True).connect() as connection:
            await connection.run_sync(_upgrade, database.name, say)
    except DBAPIError as error:
        raise explain(error, database.name) from error


async def require_schema(database: Database) -> bool:
    """Create the tables of an empty database, and make sure that this code can use those of any other.

    Returns:
      whether it was empty.
    Raises:
      DatabaseUnusable: as `migrate`, or it has to be migrated first.
    """
    try:
        async with database.engine.execution_options(writer=True).begin() as connection:
            return await connection.run_sync(_require, database.name)
    except DBAPIError as error:
        raise explain(error, database.name) from error


async def has_schema(database: Database) -> bool:
    """Whether the database has tables, all of which this code can use. Nothing is changed.

    Raises:
      DatabaseUnusable: as `require_schema`.
    """
    try:
        async with database.engine.connect() as connection:
            revisions = await connection.run_sync(_revisions_of, database.name)
    except DBAPIError as error:
        raise explain(error, database.name) from error
    if revisions:
        _refuse_if_earlier(revisions, database.name)
    return bool(revisions)


async def refuse_if_outdated(session: AsyncSession) -> None:
    """Make sure that this code works on the schema, which a newer version may have migrated since this process started.

    Raises:
      Outdated: it does not.
    """
    newest = await session.scalar(_REVISION)
    if not _works_on(newest):
        raise Outdated(newest)


async def refuse_if_not_newest(session: AsyncSession) -> None:
    """Make sure that no newer version of Meshgrade has migrated the database since this process started.

    Raises:
      Outdated: one has, so this process must not conclude anything from what it cannot read.
    """
    newest = await session.scalar(_REVISION)
    if newest not in known_revisions():
        raise Outdated(newest)


def newest_revision() -> str:
    return max(known_revisions())


def is_before_releases(revision: str) -> bool:
    return revision < min(known_revisions())


def how_to_migrate_first(command: str) -> str:
    """What to do with data from before the first release. `command` is the one that migrates it."""
    return (
        f"Bring it to revision {min(known_revisions())} with the commit that has the earlier revisions: in a checkout, "
        f"type git checkout {_COMMIT_BEFORE_RELEASES} and {command}. Then return to this version."
    )


def works_with(revision: str) -> str:
    """The oldest revision whose code works on the schema of this one: `0057` for `0058_0057`."""
    return revision.rpartition("_")[2]


def _works_on(revision: str | None) -> bool:
    return revision in known_revisions() or (revision is not None and works_with(revision) <= newest_revision())


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
def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(migration_config())


def _require(connection: Connection, name: str) -> bool:
    _take_turns(connection)
    revisions = _revisions_of(connection, name)
    if not revisions:
        _run(connection, "head")
    else:
        _refuse_if_earlier(revisions, name)
    # A backup has none.
    _create_jobs(connection)
    if not revisions:
        renew_grants(connection)
    return not revisions


def _refuse_if_earlier(revisions: set[str], name: str) -> None:
    if pending := _pending(revisions):
        raise DatabaseUnusable(
            f"the database {name} is of an earlier version of Meshgrade (revision {', '.join(sorted(revisions))}, and "
            f"this version needs {pending[-1]}).",
            "Make a backup (`./meshgrade backup FILE`), then type, with the same settings: ./meshgrade migrate",
        )


def _upgrade(connection: Connection, name: str, say: Say) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _ADVISORY_LOCK})
        connection.execute(text(f"SET lock_timeout = '{_LOCK_TIMEOUT}'"))
        connection.commit()
    try:
        revisions = _revisions_of(connection, name)
        # All at once, which is quicker, and nobody reads an empty database.
        for revision in _pending(revisions) if revisions else ["head"]:
            start = time.monotonic()
            _try_to_run(connection, revision, say)
            if revisions:
                say(f"{revision}: {_summary(revision)} ({time.monotonic() - start:.1f} s)")
        _create_jobs(connection)
        if renew_grants(connection):
            say("The roles of the server and of the workers have the rights that this version needs.")
        connection.commit()
    finally:
        connection.rollback()
        if connection.dialect.name == "postgresql":
            connection.execute(text("RESET lock_timeout"))
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _ADVISORY_LOCK})
            connection.commit()


def _take_turns(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})


def _revisions_of(connection: Connection, name: str) -> set[str]:
    """Empty for an empty database. Raises `DatabaseUnusable`."""
    revisions = set(MigrationContext.configure(connection).get_current_heads())
    if earlier := sorted(filter(is_before_releases, revisions)):
        raise DatabaseUnusable(
            f"the database {name} is from before the first release of Meshgrade (revision {', '.join(earlier)}).",
            how_to_migrate_first("./meshgrade migrate"),
        )
    if unknown := sorted(revisions - known_revisions()):
        if all(_works_on(each) for each in unknown):
            return {newest_revision()}
        raise DatabaseUnusable(
            f"the database {name} was written by a newer version of Meshgrade (revision {', '.join(unknown)}).",
            "Update this checkout (git pull), or start with another data folder: --data DIR.",
        )
    if not revisions and set(inspect(connection).get_table_names()) - {"alembic_version"}:
        raise DatabaseUnusable(
            f"the database {name} contains tables of another program.",
            "Start with an empty database, or with another data folder: --data DIR.",
        )
    return revisions


def _pending(revisions: set[str]) -> list[str]:
    """What a database at these revisions lacks, in order."""
    return sorted(known_revisions() - {each for head in revisions for each in _up_to(head)})


def _up_to(revision: str) -> list[str]:
    return [each.revision for each in _scripts().iterate_revisions(revision, "base")]


def _summary(revision: str) -> str:
    script = _scripts().get_revision(revision)
    return (script.doc if script else "").strip().rstrip(".").partition("\n")[0]


def _try_to_run(connection: Connection, revision: str, say: Say) -> None:
    """Run a revision, again and again while other transactions hold its tables."""
    for tries_left in reversed(range(_TRIES)):
        try:
            _run(connection, revision)
            connection.commit()
            return
        except OperationalError as error:
            connection.rollback()
            if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE or not tries_left:
                raise
            say(f"{revision}: other transactions hold the table; trying again")
            time.sleep(_AGAIN_S)


def _run(connection: Connection, revision: str) -> None:
    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _create_jobs(connection: Connection) -> None:
    if connection.dialect.name == "postgresql" and not inspect(connection).has_table("procrastinate_jobs"):
        # The whole schema of the pinned version as it is, including percent signs. The migrations of a later version
        # belong in a revision of ours.
        connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))


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
    if getattr(error.orig, "sqlstate", None) == _NO_RIGHT:
        return RightsMissing(name, message.splitlines()[0])
    return DatabaseUnusable(
        f"the database {name} cannot be opened: {message.splitlines()[0] if message else error}.",
        "Check MESHGRADE_DATABASE_URL, and make sure that this user can read and write the database.",
    )
