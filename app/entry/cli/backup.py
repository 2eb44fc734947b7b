"""`meshgrade backup`: everything that the service stores, in one file."""

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from app.entry.cli.options import Data

if TYPE_CHECKING:
    from app.core.database import Database
    from app.core.settings import Settings

# The names of backups in a folder, which sort by age. No other file in it is ever deleted.
_NAME, _NAMES = "meshgrade-%Y%m%dT%H%M%SZ.tar.gz", re.compile(r"meshgrade-\d{8}T\d{6}Z\.tar\.gz")
HELP = "Write all accounts, attempts and verdicts, and the deployment secret, to FILE. The server may keep running."


def backup(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A new file, such as meshgrade.tar.gz; or a folder, for a file named after the time; or s3://BUCKET/KEY.",
        ),
    ],
    data: Data = None,
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="If FILE is a folder: then delete all its backups except this many, the newest."),
    ] = None,
) -> None:
    from app.core.clock import now
    from app.core.database import Database
    from app.core.settings import load_settings
    from app.core.start_errors import BackupUnusable
    from app.operations.backup import write_backup
    from app.operations.object_store import PREFIX, ObjectStore, StoredObject

    settings, name = load_settings(host=None, port=None, data=data), now().strftime(_NAME)

    async def write(path: Path) -> dict[str, int]:
        database = Database(settings.database)
        try:
            return await write_backup(database, await secret_of(database, settings), path, status.update)
        finally:
            await database.close()

    def to_disk(place: Path) -> None:
        path = place / name if place.is_dir() else place
        rows = asyncio.run(write(path))
        _report(str(path), rows)
        for each in _older([str(each) for each in place.iterdir()], keep) if keep else []:
            Path(each).unlink()
            _report_deleted(each, keep)

    def to_store(place: StoredObject) -> None:
        store, written = ObjectStore(settings.s3_endpoint), place.within(name) if place.is_folder else place
        with TemporaryDirectory(prefix="meshgrade-") as folder:
            rows = asyncio.run(write(Path(folder, name)))
            store.write(Path(folder, name), written, status.update)
        _report(str(written), rows)
        for each in _older(store.names(place), keep) if keep else []:
            gone = StoredObject(place.bucket, each)
            store.delete(gone)
            _report_deleted(str(gone), keep)

    stored = StoredObject.at(file) if file.startswith(PREFIX) else None
    if keep is not None and not (stored.is_folder if stored else Path(file).is_dir()):
        raise BackupUnusable(f"{file} is not a folder, so --keep does not apply.", "Name a folder that exists.")
    with Console(stderr=True).status("reading the database") as status:
        to_store(stored) if stored else to_disk(Path(file))


def _report(where: str, rows: dict[str, int]) -> None:
    print(f"{where} contains {row_counts(rows)}. It also contains the deployment secret, so store it like a secret.")


def _report_deleted(where: str, keep: int | None) -> None:
    print(f"{where} was deleted, because {keep} newer backups are there.")


def _older(names: list[str], keep: int | None) -> list[str]:
    """The backups among these except the newest ones, oldest first."""
    return sorted(each for each in names if _NAMES.fullmatch(each.rpartition("/")[2]))[: -(keep or len(names))]


async def secret_of(database: "Database", settings: "Settings") -> bytes:
    """The deployment secret in use: the one in the shared database, or else the one in the data folder."""
    from app.core.data_folder import read_secret
    from app.grading.queue.deployment_secret import shared_secret

    return await shared_secret(database) or read_secret(settings.data)


def row_counts(rows: dict[str, int]) -> str:
    """`users: 1, attempts: 12`"""
    return ", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in rows.items())
