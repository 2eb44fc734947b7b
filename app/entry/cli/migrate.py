"""`meshgrade migrate`: brings the database to this version's revision, before the service starts."""

import asyncio
import time
from contextlib import nullcontext

from app.entry.cli.options import Data

HELP = (
    "Migrate the database to this version's revision. An empty one needs no migration. On PostgreSQL, the service "
    "can keep running; with SQLite, stop it first."
)


def migrate(
    data: Data = None,
) -> None:
    from app.core import migrate
    from app.core.data_folder import DataFolder
    from app.core.database import Database
    from app.core.settings import load_settings

    settings = load_settings(host=None, port=None, data=data)

    async def run(database: Database) -> None:
        try:
            await migrate.migrate(database, lambda line: print(line, flush=True))
        finally:
            await database.close()

    database, start = Database(settings.database), time.monotonic()
    # The processes of a service share PostgreSQL, and each has a folder of its own.
    with nullcontext() if database.shared else DataFolder(settings.data):
        asyncio.run(run(database))
    print(f"{database.name} is up to date, at revision {migrate.newest_revision()} ({time.monotonic() - start:.1f} s).")
