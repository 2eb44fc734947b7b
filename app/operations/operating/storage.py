"""How much the service stores, and how much more its disk can take."""

import asyncio
import shutil
from dataclasses import dataclass

from sqlalchemy import text

from app.core.database import Database
from app.core.settings import Settings

_SIZE_OF_SQLITE = text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
_SIZE_OF_POSTGRESQL = text("SELECT pg_database_size(current_database())")


@dataclass(frozen=True, slots=True)
class Storage:
    """`free_bytes` and `total_bytes` are of the disk with the data folder."""

    database_bytes: int
    free_bytes: int
    total_bytes: int


async def read_storage(database: Database, settings: Settings) -> Storage:
    disk = await asyncio.to_thread(shutil.disk_usage, settings.data)
    async with database.reading() as session:
        size = await session.scalar(_SIZE_OF_POSTGRESQL if database.shared else _SIZE_OF_SQLITE)
    return Storage(size or 0, disk.free, disk.total)
