"""`meshgrade backup`: everything that the service stores, in one file."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from app.entry.cli.options import Data

if TYPE_CHECKING:
    from app.core.database import Database
    from app.core.settings import Settings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Write all accounts, attempts and verdicts, and the deployment secret, to FILE. The server may keep running."
)
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file, such as meshgrade.tar.gz.")],
    data: Data = None,
) -> None:
    from app.core.database import Database
    from app.core.settings import load_settings
    from app.operations.backup import write_backup

    settings = load_settings(host=None, port=None, data=data)

    async def run() -> dict[str, int]:
        database = Database(settings.database)
        try:
            return await write_backup(database, await secret_of(database, settings), file, status.update)
        finally:
            await database.close()

    with Console(stderr=True).status("reading the database") as status:
        rows = asyncio.run(run())
    print(f"{file} contains {row_counts(rows)}. It also contains the deployment secret, so store it like a secret.")


async def secret_of(database: "Database", settings: "Settings") -> bytes:
    """The deployment secret in use: the one in the shared database, or else the one in the data folder."""
    from app.core.data_folder import read_secret
    from app.grading.queue.deployment_secret import shared_secret

    return await shared_secret(database) or read_secret(settings.data)


def row_counts(rows: dict[str, int]) -> str:
    """`users: 1, attempts: 12`"""
    return ", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in rows.items())
