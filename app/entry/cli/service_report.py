"""The service whose database these settings name, as a command that only looks finds it."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.database import Database
    from app.core.settings import Settings
    from app.grading.queue.workers import Worker

_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """`found` is what was found, and `remedy` is empty if the database can be read and written."""

    name: str
    reached: bool
    writable: bool
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """`workers` is None if their rows cannot be read."""

    database: DatabaseReport
    workers: "list[Worker] | None"


def report_service(settings: "Settings") -> ServiceReport | None:
    """None if there is no service yet: nothing names a database, and the data folder has none."""
    # Opening it would create it.
    if settings.database_url is None and not (settings.data / "meshgrade.sqlite3").is_file():
        return None
    return asyncio.run(_report(settings))


async def _report(settings: "Settings") -> ServiceReport:
    from app.core.database import Database

    database = Database(settings.database)
    try:
        async with asyncio.timeout(_WAIT_S):
            return await _look(database)
    except TimeoutError:
        return ServiceReport(_not_reached(database, f"it does not respond within {_WAIT_S:g} s"), None)
    finally:
        await database.close()


async def _look(database: "Database") -> ServiceReport:
    from sqlalchemy.exc import SQLAlchemyError

    from app.core.database import why_not_written
    from app.core.migrate import has_schema
    from app.core.start_errors import DatabaseUnusable
    from app.grading.queue.workers import Workers, try_to_write

    try:
        if not await has_schema(database):
            remedy = "Start the server once, which creates the tables: ./meshgrade serve"
            return ServiceReport(DatabaseReport(database.name, True, False, "reached, but it is empty", remedy), None)
    except DatabaseUnusable as error:
        return ServiceReport(_not_reached(database, str(error).removesuffix("."), error.remedy), None)
    except (SQLAlchemyError, OSError) as error:
        return ServiceReport(_not_reached(database, f"it does not respond ({type(error).__name__})"), None)
    try:
        workers = await Workers(database).all()
        await try_to_write(database)
    except (SQLAlchemyError, OSError) as error:
        found = why_not_written(error) if isinstance(error, SQLAlchemyError) else "it does not respond"
        remedy = "Read the log of the database. Often its disk is full."
        return ServiceReport(
            DatabaseReport(database.name, True, False, f"reached, but it cannot be written: {found}", remedy), None
        )
    return ServiceReport(DatabaseReport(database.name, True, True, "reached, writable"), workers)


def _not_reached(database: "Database", found: str, remedy: str = "") -> DatabaseReport:
    remedy = remedy or "Start the database, and check MESHGRADE_DATABASE_URL."
    return DatabaseReport(database.name, False, False, found, remedy)
