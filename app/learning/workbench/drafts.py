"""Drafts: what users have typed but not submitted yet, the same on all of their devices."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database, select_rows
from app.core.errors import DraftConflict, DraftNotFound
from app.core.ids import new_id
from app.core.prepared_select import PreparedSelect
from app.core.view import View
from app.grading.attempts.source_rules import check_text
from app.learning.workbench.models import DraftRow, ReplacedDraftRow
from app.problems.catalogue import Catalogue

# Of one user. The oldest ones go first.
_MOST_REPLACED = 100

# Built once: building a statement takes as long as executing it, and every problem page needs it.
_FIND = PreparedSelect(
    select(DraftRow.source, DraftRow.revision, DraftRow.saved_at).where(
        DraftRow.user_id == bindparam("user"), DraftRow.problem == bindparam("slug")
    )
)


class Draft(View):
    """Your draft at a problem. Before the first save, `revision` is 0, and `source` and `saved_at` are null."""

    problem: str
    source: str | None
    revision: int
    saved_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReplacedDraft:
    """A draft that a restored source replaced. It is kept because it was never sent."""

    id: str
    problem: str
    source: str
    replaced_at: datetime


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
            row = (await select_rows(session, _FIND, {"user": user.id, "slug": problem})).first()
        saved = row._mapping if row else {"source": None, "revision": 0, "saved_at": None}
        return Draft(problem=problem, **saved)

    async def save(self, user: User, slug: str, source: str, revision: int) -> Draft:
        """Store `source` instead of `revision`. A text that is already stored stays as it is.

        Raises:
          ProblemNotFound; SourceRefused: the source is too long, or not text.
          DraftConflict: another text was saved after `revision`.
        """
        problem = self._catalogue.get(slug).slug
        check_text(source, self._max_source_bytes)
        return await self._save(
            user, Draft(problem=problem, source=source, revision=revision + 1, saved_at=now()), None
        )

    async def restore(self, user: User, draft: Draft, source: str, *, keep: bool) -> Draft:
        """Store `source`, which an attempt or a replaced draft has, instead of `draft`.

        Args:
          keep: `draft` exists nowhere else, so it becomes a replaced draft.

        Raises:
          ProblemNotFound.
          DraftConflict: another text was saved since `draft` was read.
        """
        problem = self._catalogue.get(draft.problem).slug
        saved = Draft(problem=problem, source=source, revision=draft.revision + 1, saved_at=now())
        return await self._save(user, saved, draft.source if keep else None)

    async def list_replaced(self, user: User) -> list[ReplacedDraft]:
        """Newest first."""
        row = ReplacedDraftRow
        query = select(row.id, row.problem, row.source, row.replaced_at).where(row.user_id == user.id)
        async with self._database.reading() as session:
            rows = await session.execute(query.order_by(row.replaced_at.desc(), row.id))
            return [ReplacedDraft(*each) for each in rows]

    async def find_replaced(self, user: User, draft_id: str) -> ReplacedDraft:
        """Raises `DraftNotFound`, even if it exists for another user."""
        found = next((each for each in await self.list_replaced(user) if each.id == draft_id), None)
        if found is None:
            raise _no_draft(draft_id)
        return found

    async def discard_replaced(self, user: User, draft_id: str) -> None:
        """Raises `DraftNotFound`, even if it exists for another user."""
        row = ReplacedDraftRow
        if not await self._database.delete_one(row, draft_id, row.user_id == user.id):
            raise _no_draft(draft_id)

    async def _save(self, user: User, saved: Draft, aside: str | None) -> Draft:
        problem, source = saved.problem, saved.source
        if not await self._replace(user, saved, aside):
            stored = await self.get(user, problem)
            if stored.source != source:
                raise DraftConflict(
                    "Another tab or device has saved a different text since. This response contains it. To replace it, "
                    "send yours again with that text's revision.",
                    draft={"source": stored.source, "revision": stored.revision},
                )
            return stored
        return saved

    async def _replace(self, user: User, saved: Draft, aside: str | None) -> bool:
        """Whether `saved` replaced the previous revision. One statement, so no other save can come in between.

        `aside` is the text of that revision, to be kept as a replaced draft.
        """
        values = {"source": saved.source, "revision": saved.revision, "saved_at": saved.saved_at}
        try:
            async with self._database.writing() as session:
                if saved.revision == 1:
                    session.add(DraftRow(user_id=user.id, problem=saved.problem, begun_at=saved.saved_at, **values))
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
                if replaced.first() is None:
                    return False
                if aside is not None:
                    await _put_aside(session, user, saved.problem, aside)
                return True
        except IntegrityError:  # there is already a first one
            return False


async def _put_aside(session: AsyncSession, user: User, problem: str, source: str) -> None:
    row = ReplacedDraftRow
    session.add(row(id=new_id(), user_id=user.id, problem=problem, source=source, replaced_at=now()))
    await session.flush()
    newest = select(row.id).where(row.user_id == user.id).order_by(row.replaced_at.desc(), row.id).limit(_MOST_REPLACED)
    ids = (await session.scalars(newest)).all()
    await session.execute(delete(row).where(row.user_id == user.id, row.id.not_in(ids)))


def _no_draft(draft_id: str) -> DraftNotFound:
    return DraftNotFound(f"You have no replaced draft with the id {draft_id[:64]!r}.")
