"""What references computed, shared by the workers of one database, so that a new worker need not compute it again."""

import asyncio
import io
import logging
import zipfile
import zlib
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import delete, select

from app.core.clock import now
from app.core.database import UNAVAILABLE, Database, insert_into
from app.grading.queue.models import SharedAnswersRow

log = logging.getLogger(__name__)
_WAIT_S = 20.0
# Reading and writing more takes longer than most references.
_MAX_BYTES = 64 << 20
# By then, the package, JAX or the machines have probably changed.
_KEEP = timedelta(days=90)
_T = TypeVar("_T")


class AnswersInDatabase:
    """Called in the threads of the judge. If the database does not respond, the caller computes the answers itself.

    Args:
      loop: the event loop that the database belongs to.
    """

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._database = database
        self._loop = loop

    def fetch(self, key: str) -> Mapping[str, bytes] | None:
        archive = self._wait_for(self._read(key), "read")
        if not archive:
            return None
        try:
            return unpacked(archive)
        except (zipfile.BadZipFile, zlib.error) as error:
            log.error("the shared answers %s are damaged, and are computed again: %s", key, error)
            return None

    def offer(self, key: str, files: Mapping[str, bytes]) -> None:
        if sum(map(len, files.values())) <= _MAX_BYTES:
            self._wait_for(self._write(key, packed(files)), "write")

    async def _read(self, key: str) -> bytes | None:
        query = select(SharedAnswersRow.files).where(SharedAnswersRow.key == key)
        async with self._database.reading() as session:
            return await session.scalar(query)

    async def _write(self, key: str, files: bytes) -> None:
        async with self._database.writing() as session:
            await session.execute(delete(SharedAnswersRow).where(SharedAnswersRow.created_at < now() - _KEEP))
            row = insert_into(session, SharedAnswersRow).values(key=key, files=files, created_at=now())
            await session.execute(row.on_conflict_do_nothing())

    def _wait_for(self, coroutine: Coroutine[Any, Any, _T], verb: str) -> _T | None:
        future: Future[_T] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(_WAIT_S)
        except (*UNAVAILABLE, TimeoutError) as error:
            future.cancel()
            log.warning("cannot %s the shared answers of references: %s", verb, type(error).__name__)
            return None


def packed(files: Mapping[str, bytes]) -> bytes:
    """A zip archive. Programs shrink to a tenth; arrays of random numbers hardly shrink."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def unpacked(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}
