"""`meshgrade reset-password`: lets someone who forgot their password sign in again."""

import asyncio
from typing import Annotated

import typer

from app.entry.cli.options import Data

HELP = (
    "Remove NAME's password, sign out their browsers, and print a link that signs them in once. "
    "The server may keep running."
)


def reset_password(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that they sign in with.")],
    data: Data = None,
) -> None:
    from datetime import timedelta

    from app.accounts.service import Accounts
    from app.core.data_folder import read_secret
    from app.core.database import Database
    from app.core.migrate import require_schema
    from app.core.settings import load_settings
    from app.teaching.people.account_changes import reset_as_operator

    settings = load_settings(host=None, port=None, data=data)

    async def run() -> str:
        # Only a folder that a server has used has a secret. Without this, a wrong --data would create a database.
        read_secret(settings.data)
        database = Database(settings.database)
        accounts = Accounts(
            database,
            session_life=timedelta(days=settings.session_days),
            link_life=timedelta(minutes=settings.sign_in_link_minutes),
        )
        try:
            await require_schema(database)
            return await reset_as_operator(database, accounts, name)
        finally:
            await database.close()

    link = asyncio.run(run())
    address = settings.public_url or f"http://{settings.host}:{settings.port}"
    minutes = f"{settings.sign_in_link_minutes:g} min"
    print(f"Send this link to {name} over a private channel. It works once, within {minutes}:")
    print(f"{address}/sign-in?token={link}")
