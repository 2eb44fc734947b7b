"""Explorations without an account: what they may compile, and how long they are stored."""

from datetime import timedelta

from sqlalchemy import delete

from app.accounts.caller import GUEST_ID
from app.core.clock import now
from app.core.database import Database
from app.core.errors import NotSignedIn
from app.learning.explorer.models import ExplorationRow
from grader.core.chips import ChipName

MAX_DEVICES = 8
_STORED_FOR = timedelta(days=1)


def refuse_large(devices: int, chip: ChipName | None) -> None:
    """Raises `NotSignedIn` if only someone with an account may explore it."""
    if devices > MAX_DEVICES:
        raise NotSignedIn(
            f"Without an account, a mesh may have {MAX_DEVICES} devices, and this one has {devices}. Nothing was "
            "explored. Sign in, or choose a smaller mesh."
        )
    if chip is not None:
        raise NotSignedIn("Without an account, nothing is compiled for chips. Sign in, or compile it for host devices.")


async def forget_older_explorations(database: Database) -> None:
    """Delete those of guests that are older than a day."""
    old = (ExplorationRow.user_id == GUEST_ID, ExplorationRow.created_at < now() - _STORED_FOR)
    async with database.writing() as session:
        await session.execute(delete(ExplorationRow).where(*old).execution_options(synchronize_session=False))
