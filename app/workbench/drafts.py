"""Drafts: what users have typed but not submitted yet, the same on all of their devices."""

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

# Built once: building a statement takes as long as executing it, and every problem page needs it.
_FIND = select(DraftRow.source, DraftRow.revision, DraftRow.saved_at).where(
    DraftRow.user_id == bindparam("user"), DraftRow.problem == bindparam("slug")
)


@dataclass(frozen=True, slots=True)
class Draft:
    """If nothing was saved yet, `source` and `saved_at` are None and `revision` is 0."""

    problem: str
    source: str | None
    revision: int
    saved_at: datetime | None


class Drafts:
    """Safe to share between requests. Users read and write only their own drafts.

    A writer names the revision that the text is based on. If another tab or device has saved a different text since,
    nothing is stored, and the writer receives that text: no save ever replaces a text that its author has not seen.
    """

    def __init__(self, database: Database, catalogue: Catalogue, max_source_bytes: int) -> None:
        self._database = database
        self._catalogue = catalogue
        self._max_source_bytes = max_source_bytes

    async def get(self, user: User, slug: str) -> Draft:
        """Raises `ProblemNotFound`."""
        problem = self._catalogue.get(slug).slug
        async with self._database.reading() as session:
            row = (await session.execute(_FIND, {"user": user.id, "slug": problem})).first()
        return Draft(problem, *row) if row else Draft(problem, None, 0, None)

    async def save(self, user: User, slug: str, source: str, revision: int) -> Draft:
        """Store `source` instead of `revision`. A text that is already stored stays as it is.

        Raises:
          ProblemNotFound; SourceRefused: the source is too long, or not text.
          DraftConflict: another text was saved after `revision`.
        """
        problem = self._catalogue.get(slug).slug
        check_text(source, self._max_source_bytes)
        saved = Draft(problem, source, revision + 1, now())
        if not await self._replace(user, saved):
            stored = await self.get(user, problem)
            if stored.source != source:
                raise DraftConflict(
                    "Another tab or device has saved a different text since. This response contains it. To replace it, "
                    "send yours again with its revision.",
                    draft={"source": stored.source, "revision": stored.revision},
                )
            return stored
        return saved

    async def _replace(self, user: User, saved: Draft) -> bool:
        """Whether `saved` replaced the previous revision. One statement, so no other save can come in between."""
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
        except IntegrityError:  # there is already a first one
            return False
