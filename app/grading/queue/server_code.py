"""The grader of the service: a process that runs another one than the server takes no work.

Verdicts of one service come from one grader. A fix of the grader changes no schema and no version, so processes compare
a digest of its sources (grader/core/code_digest.py). The server that started last says which one counts. It is stored
only on PostgreSQL, because with SQLite no other process grades.
"""

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.database import Database
from app.grading.queue.models import DeploymentRow
from grader.core.errors import MeshgradeError


class OtherCode(MeshgradeError):
    """This process runs another grader than the server."""

    def __init__(self, own: str, of_server: str) -> None:
        super().__init__(f"this process runs the grader {own}, and the server runs {of_server}")


async def announce_code(database: Database, code: str) -> None:
    """Make this the grader of the service, when a server starts. The deployment secret must be stored by then."""
    if database.shared:
        async with database.writing() as session:
            await session.execute(update(DeploymentRow).values(code=code))


async def code_of_server(session: AsyncSession) -> str | None:
    """None on SQLite, and until a server has started that stores it."""
    if session.get_bind().dialect.name != "postgresql":
        return None
    return await session.scalar(select(DeploymentRow.code))


async def refuse_other_code(session: AsyncSession, own: str) -> None:
    """Raises `OtherCode` if the server runs another grader than this process."""
    if (of_server := await code_of_server(session)) not in (None, own):
        raise OtherCode(own, str(of_server))
