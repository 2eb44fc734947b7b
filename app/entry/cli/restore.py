"""`meshgrade restore`: restores a backup into a new data folder."""

import asyncio
import shutil
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

HELP = "Restore the backup FILE into a new data folder, or the empty database of MESHGRADE_DATABASE_URL."


def restore(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file that `meshgrade backup` wrote, also one at s3://BUCKET/KEY.")
    ],
    data: Annotated[Path | None, typer.Option(help="A new data folder. Default: data, in the checkout.")] = None,
) -> None:
    from app.core.data_folder import DataFolder
    from app.core.database import Database
    from app.core.settings import load_settings
    from app.entry.cli.backup import row_counts
    from app.operations.backup import Backup
    from app.operations.object_store import PREFIX, ObjectStore, StoredObject

    settings = load_settings(host=None, port=None, data=data)

    async def run(backup: Backup) -> dict[str, int]:
        database = Database(settings.database)
        try:
            return await backup.restore(database, status.update)
        finally:
            await database.close()

    with (
        TemporaryDirectory(prefix="meshgrade-") as folder,
        Console(stderr=True).status("reading the backup") as status,
        ExitStack() as opened,
    ):
        path = Path(file)
        if file.startswith(PREFIX):
            path = Path(folder, "backup.tar.gz")
            ObjectStore(settings.s3_endpoint).read(StoredObject.at(file), path)
        backup = opened.enter_context(Backup(path))
        is_new = not settings.data.exists()
        try:
            with DataFolder(settings.data, secret=backup.secret):
                rows = asyncio.run(run(backup))
        except BaseException:
            # Half a data folder would make the next try fail.
            if is_new:
                shutil.rmtree(settings.data, ignore_errors=True)
            raise
    print(f"{settings.data} contains {row_counts(rows)}. Start it with: ./meshgrade serve --data {settings.data}")
