"""Giving up on a problem: its editorial opens, and attempts sent later no longer count."""

from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database, insert_into, select_rows
from app.core.errors import AlreadyAccepted
from app.core.prepared_select import PreparedSelect
from app.grading.attempts.models import GiveUpRow
from app.grading.attempts.progress import standings
from app.grading.queue.models import AttemptRow
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility

# Built once: building a statement takes as long as executing it, and every problem page needs it.
_AT = PreparedSelect(
    select(GiveUpRow.at).where(GiveUpRow.user_id == bindparam("user"), GiveUpRow.problem == bindparam("problem"))
)


class GiveUps:
    """Safe to share between requests."""

    def __init__(self, database: Database, catalogue: Catalogue, visibility: Visibility) -> None:
        self._database = database
        self._catalogue = catalogue
        self._visibility = visibility

    async def at(self, user: User, slug: str) -> datetime | None:
        """When the user gave up on the problem, or None. Raises `ProblemNotFound`."""
        problem = self._catalogue.get(slug).slug
        async with self._database.reading() as session:
            return await _at(session, user.id, problem)

    async def give_up(self, user: User, slug: str) -> datetime:
        """Give up on the problem, and return when that was. Only the first time counts.

        Raises:
          ProblemNotFound.
          ExamOpen: an open exam closes giving up.
          AlreadyAccepted: an attempt of this user is accepted, so there is nothing to give up.
        """
        problem = (await self._visibility.visible(user, slug)).require("giving_up").slug
        standing = (await standings(self._database, user, problem)).get(problem)
        if standing and standing.accepted:
            raise AlreadyAccepted(
                "You have solved this problem, so its editorial is already open. There is nothing to give up."
            )
        first = {"user_id": user.id, "problem": problem, "at": now()}
        async with self._database.writing() as session:
            await session.execute(insert_into(session, GiveUpRow).values(first).on_conflict_do_nothing())
            moment = await _at(session, user.id, problem)
        assert moment is not None
        return moment


async def is_after_giving_up(session: AsyncSession, row: AttemptRow) -> bool:
    """Whether an attempt that is about to be stored was sent after its user gave up.

    On PostgreSQL, it does not see someone who gives up at the same moment. Until that is committed, nobody can have
    read the editorial.
    """
    moment = await _at(session, row.user_id, row.problem)
    return moment is not None and moment <= row.created_at


async def _at(session: AsyncSession, user_id: str, problem: str) -> datetime | None:
    moment: datetime | None = (await select_rows(session, _AT, {"user": user_id, "problem": problem})).scalar()
    return moment
