"""`meshgrade backup`: all that the service keeps, in one file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(pretty_exceptions_enable=False)
Data = Annotated[Path | None, typer.Option(help="Data folder; default: data, in the checkout.")]


@app.command(help="Write all accounts, attempts and verdicts, and the deployment secret, to FILE. The server may run.")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file, such as meshgrade.tar.gz.")],
    data: Data = None,
) -> None:
    from app.backup import write_backup
    from app.data_folder import read_secret
    from app.database import Database
    from app.queue.deployment import shared_secret
    from app.settings import load_settings

    settings = load_settings(host=None, port=None, data=data)

    async def run() -> dict[str, int]:
        database = Database(settings.database)
        try:
            secret = await shared_secret(database) or read_secret(settings.data)
            return await write_backup(database, secret, file)
        finally:
            await database.close()

    rows = asyncio.run(run())
    print(f"{file} holds {told(rows)}. It holds the deployment secret, too: keep it where you keep secrets.")


def told(rows: dict[str, int]) -> str:
    """`users: 1, attempts: 12`"""
    return ", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in rows.items())
