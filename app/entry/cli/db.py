"""`meshgrade db upgrade`: migrates the database, as every start does."""

import asyncio

import typer

from app.entry.cli.options import Data

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, help="Manage the database.", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    """Manage the database."""


@app.command(help="Migrate the database to this version's revision. Every start also does this.")
def upgrade(
    data: Data = None,
) -> None:
    from app.core.data_folder import DataFolder
    from app.core.database import Database
    from app.core.migrate import migrate
    from app.core.settings import load_settings

    settings = load_settings(host=None, port=None, data=data)

    async def run() -> str:
        database = Database(settings.database)
        try:
            await migrate(database)
        finally:
            await database.close()
        return database.name

    with DataFolder(settings.data):
        name = asyncio.run(run())
    print(f"{name} is up to date.")
