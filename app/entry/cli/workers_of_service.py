"""The workers of the service whose database these settings name, for commands that only read."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.settings import Settings
    from app.grading.queue.workers import Worker

_WAIT_S = 3.0


def workers_of_service(settings: "Settings") -> "list[Worker] | None":
    """None if there is no database yet, it does not respond, or it is of an earlier version."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.core.database import Database
    from app.grading.queue.workers import Workers

    # Opening it would create it.
    if settings.database_url is None and not (settings.data / "meshgrade.sqlite3").is_file():
        return None

    async def read() -> "list[Worker]":
        database = Database(settings.database)
        try:
            async with asyncio.timeout(_WAIT_S):
                return await Workers(database).all()
        finally:
            await database.close()

    try:
        return asyncio.run(read())
    except (SQLAlchemyError, OSError, TimeoutError):
        return None
