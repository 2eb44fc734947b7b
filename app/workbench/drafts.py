"""Drafts: what people have typed and not sent yet, the same on each of their devices."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import IntegrityError

from app.accounts.caller import User
from app.attempts.source import check_text
from app.clock import now
from app.database import Database
from app.errors import DraftConflict
from app.problems.service import Catalogue
from app.workbench.models import DraftRow

# Made once: to put a statement together takes as long as to execute it, and every problem's page asks.
_FIND = select(DraftRow.source, DraftRow.revision, DraftRow.saved_at).where(
    DraftRow.user_id == bindparam("user"), DraftRow.problem == bindparam("slug")
)


@dataclass(frozen=True, slots=True)
class Draft:
    """`source` and `saved_at` are None, and `revision` is 0, where nothing was saved yet."""

    problem: str
    source: str | None
    revision: int
    saved_at: datetime | None


class Drafts:
    """Safe to share between requests. Everybody reads and writes their own drafts only.

    A writer names the revision that the text began from. If another tab or device has saved a different text since,
    nothing is stored, and the writer is given that text: no save ever replaces one that its author has not seen.
    """

    def __init__(self, database: Database, catalogue: Catalogue, max_source_bytes: int) -> None:
        self._database = database
        self._catalogue = catalogue
        self._max_source_bytes = max_source_bytes

    async def get(self, user: User, slug: str) -> Draft:
        """Raises `ProblemNotFound`."""
        problem = self._catalogue.get(slug).slug
        async with self._database.reading() as session:
            found = (await session.execute(_FIND, {"user": user.id, "slug": problem})).first()
        return Draft(problem, *found) if found else Draft(problem, None, 0, None)

    async def save(self, user: User, slug: str, source: str, revision: int) -> Draft:
        """Store `source` in place of `revision`; a text that is stored already stays as it is.

        Raises:
          ProblemNotFound; SourceRefused: too long, or not text.
          DraftConflict: another text was saved after `revision`.
        """
        problem = self._catalogue.get(slug).slug
        check_text(source, self._max_source_bytes)
        saved = Draft(problem, source, revision + 1, now())
        if not await self._replace(user, saved):
            stored = await self.get(user, problem)
            if stored.source != source:
                raise DraftConflict(
                    "Another tab or device has saved a different text since. It comes with this answer; send yours "
                    "again with that revision to replace it.",
                    draft={"source": stored.source, "revision": stored.revision},
                )
            return stored
        return saved

    async def _replace(self, user: User, saved: Draft) -> bool:
        """Whether `saved` now stands where the revision before it stood. One statement: nobody comes between."""
        values = {"source": saved.source, "revision": saved.revision, "saved_at": saved.saved_at}
        try:
            async with self._database.writing() as session:
                if saved.revision == 1:
                    session.add(DraftRow(user_id=user.id, problem=saved.problem, **values))
                    return True
                replaced = await session.execute(
                    update(DraftRow)
                    .where(
                        DraftRow.user_id == user.id,
                        DraftRow.problem == saved.problem,
                        DraftRow.revision == saved.revision - 1,
                        DraftRow.source != saved.source,
                    )
                    .values(values)
                    .returning(DraftRow.revision)
                )
                return replaced.first() is not None
        except IntegrityError:  # there is a first one already
            return False
