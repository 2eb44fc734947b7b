"""A backup: every row of the database and the deployment secret, in one file that does not depend on the database.

The file is a gzipped tar: `meshgrade-backup.json` (format, schema revision, rows of each table), `secret`, and for each
table `NAME.jsonl` with one row per line. Rows have the columns of their table at that revision. So an old backup is
first restored as it was and then migrated, and a backup of SQLite can be restored into PostgreSQL.
"""

import gzip
import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from alembic import command
from alembic.runtime.migration import MigrationContext
from sqlalchemy import JSON, Connection, DateTime, MetaData, Table, inspect, select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from app.core.data_folder import SECRET_BYTES
from app.core.database import Database, may_pause
from app.core.migrate import explain, how_to_migrate_first, is_before_releases, known_revisions, migration_config
from app.core.start_errors import BackupUnusable, DatabaseUnusable

_FORMAT = 1
_MANIFEST, _SECRET, _REVISIONS = "meshgrade-backup.json", "secret", "alembic_version"
_ROWS_AT_ONCE = 500
_ROWS_PER_MESSAGE = 2_000
# A manifest lists about twenty tables. Anything longer is not a manifest, and would only fill memory.
_LONGEST_MANIFEST = 1024 * 1024
_DAMAGED = (
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    DataError,
    IntegrityError,
)


Progress = Callable[[str], None]


def _silent(step: str) -> None:
    pass


async def write_backup(database: Database, secret: bytes, path: Path, progress: Progress = _silent) -> dict[str, int]:
    """Write a new file that only its owner can read. A server may use the database at the same time.

    Args:
      progress: called with a line about the current step every few thousand rows.
    Returns:
      the number of rows of each table.
    Raises:
      BackupUnusable: the file exists or cannot be written, or there is nothing to back up.
      DatabaseUnusable: the database cannot be read.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".meshgrade-backup-") as folder:
            # The backup is of one moment, however long it takes. A transaction of SQLite always sees one moment.
            level = {"isolation_level": "REPEATABLE READ"} if database.engine.dialect.name == "postgresql" else {}
            async with database.engine.connect() as connection:
                await connection.execution_options(**level)
                manifest = await connection.run_sync(_dump, Path(folder), progress)
            progress("packing")
            draft = Path(folder) / "backup"
            _pack(draft, Path(folder), manifest, secret)
            # A link never replaces a file, as a rename would.
            os.link(draft, path)
    except FileExistsError:
        raise BackupUnusable(f"{path} already exists.", "Name a file that does not exist yet.") from None
    except DBAPIError as error:
        raise explain(error, database.name) from error
    except OSError as error:
        raise BackupUnusable(
            f"the backup {path} cannot be written: {error.strerror or error}.",
            "Name a file in a folder that this user can write to, on a disk with room for the whole database.",
        ) from None
    tables: dict[str, int] = manifest["tables"]
    return tables


class Backup:
    """A backup that is open for reading.

    Raises:
      BackupUnusable: the file is not a backup, is damaged, or was written by a newer version, or by one from before the
        first release.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._tar = tarfile.open(path, "r:gz")  # noqa: SIM115 (closed by __exit__)
        except OSError as error:
            raise BackupUnusable(
                f"{path} cannot be read: {error.strerror or error}.", "Name a file that this user can read."
            ) from None
        except _DAMAGED:
            raise BackupUnusable(
                f"{path} is not a backup of Meshgrade.", "Name a file that `meshgrade backup` wrote."
            ) from None
        try:
            with self._damage():
                self._read_manifest()
        except BaseException:
            self._tar.close()
            raise

    def _read_manifest(self) -> None:
        manifest = json.loads(self._member(_MANIFEST).read(_LONGEST_MANIFEST))
        if is_before_releases(manifest["revision"]):
            raise BackupUnusable(
                f"{self._path} was written before the first release of Meshgrade (revision {manifest['revision']}).",
                how_to_migrate_first(f"./meshgrade restore {self._path}"),
            )
        if manifest["format"] != _FORMAT or manifest["revision"] not in known_revisions():
            raise BackupUnusable(
                f"{self._path} was written by a newer version of Meshgrade (revision {manifest['revision']}).",
                "Update this checkout (git pull), then restore the backup.",
            )
        self.revision: str = manifest["revision"]
        self._tables = {str(name): int(rows) for name, rows in manifest["tables"].items()}
        self.secret = self._member(_SECRET).read(SECRET_BYTES + 1)
        if len(self.secret) != SECRET_BYTES:
            raise ValueError("its deployment secret has the wrong length")

    def __enter__(self) -> "Backup":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tar.close()

    async def restore(self, database: Database, progress: Progress = _silent) -> dict[str, int]:
        """Fill an empty database and bring it to this version's revision, all in one transaction.

        Args:
          progress: as in `write_backup`.
        Returns:
          the number of rows of each table.
        Raises:
          DatabaseUnusable: the database is not empty, or cannot be written.
          BackupUnusable: the file is damaged.
        """
        try:
            async with database.engine.execution_options(writer=True).begin() as connection:
                await connection.run_sync(self._fill, database.name, progress)
        except DBAPIError as error:
            raise explain(error, database.name) from error
        return self._tables

    def _fill(self, connection: Connection, name: str, progress: Progress) -> None:
        may_pause(connection)
        if inspect(connection).get_table_names():
            raise DatabaseUnusable(
                f"the database {name} is not empty.",
                "Restore into a new data folder (--data DIR) or a new database (MESHGRADE_DATABASE_URL).",
            )
        config = migration_config()
        config.attributes["connection"] = connection
        command.upgrade(config, self.revision)
        with self._damage():
            for table in _tables_of(connection):
                self._fill_table(connection, table, progress)
        command.upgrade(config, "head")

    def _fill_table(self, connection: Connection, table: Table, progress: Progress) -> None:
        number, chunk = 0, []
        for line in io.TextIOWrapper(self._member(f"{table.name}.jsonl"), encoding="utf-8"):
            chunk.append(_from_json(table, json.loads(line)))
            number += 1
            _report(progress, table, number)
            if len(chunk) == _ROWS_AT_ONCE:
                connection.execute(table.insert(), chunk)
                chunk = []
        if chunk:
            connection.execute(table.insert(), chunk)
        if number != self._tables[table.name]:
            raise ValueError(f"{table.name} has {number} rows")

    def _member(self, name: str) -> IO[bytes]:
        member = self._tar.extractfile(name)
        if member is None:
            raise KeyError(name)
        return member

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGED as error:
            raise BackupUnusable(
                f"the backup {self._path} is damaged: {type(error).__name__}: {str(error)[:200]}.",
                "Use another backup. Nothing was restored from this one.",
            ) from None


def _dump(connection: Connection, folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the rows of each table to its own file. Returns the backup's manifest."""
    may_pause(connection)
    heads = MigrationContext.configure(connection).get_current_heads()
    if len(heads) != 1:
        raise BackupUnusable(
            "the database contains no data of Meshgrade.",
            "Name the data folder that the server uses (--data DIR), or its database (MESHGRADE_DATABASE_URL).",
        )
    rows = {table.name: _dump_table(connection, table, folder, progress) for table in _tables_of(connection)}
    return {"format": _FORMAT, "revision": heads[0], "at": datetime.now(UTC).isoformat(), "tables": rows}


def _dump_table(connection: Connection, table: Table, folder: Path, progress: Progress) -> int:
    number = 0
    rows = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(select(table).order_by(*table.primary_key))
    with (folder / f"{table.name}.jsonl").open("w", encoding="utf-8") as file:
        for row in rows.mappings():
            file.write(json.dumps({name: _to_json(value) for name, value in row.items()}) + "\n")
            number += 1
            _report(progress, table, number)
    return number


def _report(progress: Progress, table: Table, number: int) -> None:
    if number % _ROWS_PER_MESSAGE == 0:
        progress(f"{table.name.replace('_', ' ')}: {number:,} rows")


def _pack(path: Path, folder: Path, manifest: dict[str, Any], secret: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz") as tar:
            for name, data in ((_MANIFEST, json.dumps(manifest, indent=2).encode()), (_SECRET, secret)):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o600
                tar.addfile(entry, io.BytesIO(data))
            for name in manifest["tables"]:
                tar.add(folder / f"{name}.jsonl", f"{name}.jsonl", filter=_without_owner)
        file.flush()
        os.fsync(file.fileno())


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o600
    return entry


def _tables_of(connection: Connection) -> Iterable[Table]:
    """The tables as they are, parents first. An empty JSON column contains NULL, not JSON's null."""
    metadata = MetaData()
    # Jobs are left out: the attempts that wait get new ones. Answers of references are computed again, and so is the
    # index of the search.
    left_out = ("procrastinate_", "shared_answers", "searched_")
    metadata.reflect(connection, only=lambda name, _: not name.startswith(left_out))
    for table in metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = JSON(none_as_null=True)
    return [table for table in metadata.sorted_tables if table.name != _REVISIONS]


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    return value


def _from_json(table: Table, row: Any) -> dict[str, Any]:
    if not isinstance(row, dict) or row.keys() != set(table.columns.keys()):
        raise ValueError(f"the columns of a row of {table.name} differ from the table's")
    return {name: _moment(value) if _is_time(table, name) else value for name, value in row.items()}


def _is_time(table: Table, column: str) -> bool:
    return isinstance(table.columns[column].type, DateTime)


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
