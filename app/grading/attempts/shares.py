"""Links with which anyone may read one attempt, until its owner revokes them. The only writer of that table."""

from datetime import datetime

from sqlalchemy import bindparam, delete, select

from app.accounts.caller import User
from app.accounts.digest import digest, new_token
from app.core.clock import now
from app.core.database import Database, select_rows
from app.core.errors import ShareNotFound
from app.core.prepared_select import PreparedSelect
from app.grading.attempts.models import ShareRow
from app.grading.attempts.views import AttemptJSON, AttemptViews
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import withheld_until
from app.problems.visibility import Visibility

# Built once: building a statement takes as long as executing it, and every page of an attempt needs it.
_SINCE = PreparedSelect(
    select(ShareRow.created_at).where(
        ShareRow.attempt_id == bindparam("attempt_id"), ShareRow.user_id == bindparam("user_id")
    )
)


class Shares:
    """Safe to share between requests. An attempt has at most one link."""

    def __init__(self, database: Database, visibility: Visibility, views: AttemptViews) -> None:
        self._database = database
        self._visibility = visibility
        self._views = views

    async def create(self, user: User, attempt: AttemptJSON) -> str:
        """The token of a new link to an attempt of this user. The link that it had before stops working."""
        token = new_token()
        async with self._database.writing() as session:
            await session.execute(delete(ShareRow).where(ShareRow.attempt_id == attempt.id))
            row = ShareRow(token_hash=digest(token), user_id=user.id, attempt_id=attempt.id, created_at=now())
            session.add(row)
        return token

    async def since(self, user: User, attempt_id: str) -> datetime | None:
        """When the link to this attempt was created, or None."""
        async with self._database.reading() as session:
            rows = await select_rows(session, _SINCE, {"attempt_id": attempt_id, "user_id": user.id})
            moment: datetime | None = rows.scalar()
            return moment

    async def revoke(self, user: User, attempt_id: str) -> None:
        """The link stops working at once."""
        async with self._database.writing() as session:
            await session.execute(
                delete(ShareRow).where(ShareRow.attempt_id == attempt_id, ShareRow.user_id == user.id)
            )

    async def read(self, token: str) -> AttemptJSON:
        """The attempt that a link leads to, as its owner sees it.

        Raises `ShareNotFound`, even if the attempt is shared, but at a private problem that the reader does not see.
        """
        query = (
            select(AttemptRow)
            .join(ShareRow, ShareRow.attempt_id == AttemptRow.id)
            .where(ShareRow.token_hash == digest(token), AttemptRow.user_id == ShareRow.user_id)
        )
        async with self._database.reading() as session:
            row = await session.scalar(query)
            until = await withheld_until(session, [row.id]) if row else {}
        if row is None or await self._visibility.hides(row.problem, row.version):
            raise ShareNotFound(
                "Its owner has stopped sharing this attempt, or the link is incomplete. Ask them for a new one."
            )
        return self._views.of(row, withheld_until=until.get(row.id))
