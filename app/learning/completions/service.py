"""Completed tracks: what was verified, and the links with which anyone may read it, until their owner revokes them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select

from app.accounts.caller import User
from app.accounts.digest import digest, new_token
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.learning.completions.errors import CompletionNotFound, TrackNotComplete, TrackNotFound
from app.learning.completions.models import CompletionRow, IssuedBadgeRow
from app.learning.completions.verified import Verified, verified_of
from app.problems.catalogue import Catalogue
from app.problems.package_store import PackageStore
from app.problems.tracks import Section


@dataclass(frozen=True, slots=True)
class Completion:
    """A shared completion: what was verified of whom when it was shared. `id` is also its badge's."""

    id: str
    name: str
    verified: Verified
    shared_at: datetime


class Completions:
    """Safe to share between requests. A user has at most one link for each track."""

    def __init__(self, database: Database, catalogue: Catalogue, store: PackageStore) -> None:
        self._database = database
        self._catalogue = catalogue
        self._store = store

    async def verified(self, user: User, track: str) -> Verified:
        """What the user has solved of this track now. Raises `TrackNotFound`."""
        return await verified_of(self._database, self._store, user, self._section(track))

    async def shared_since(self, user: User, track: str) -> datetime | None:
        """When the link to this track was created, or None."""
        row = CompletionRow
        query = select(row.created_at).where(row.user_id == user.id, row.track == track)
        async with self._database.reading() as session:
            return await session.scalar(query)

    async def share(self, user: User, track: str) -> str:
        """The token of a new link. The link that there was before stops working, and its badge is revoked.

        Raises:
          TrackNotFound, TrackNotComplete.
        """
        verified = await self.verified(user, track)
        if not verified.is_complete:
            raise TrackNotComplete(
                f"{len(verified.left)} of the {len(verified.problems) + len(verified.left)} problems of "
                f"{verified.title!r} are not solved: {', '.join(verified.left)}. A completion can be shared when all "
                f"are."
            )
        token, completion_id, moment = new_token(), new_id(), now()
        async with self._database.writing() as session:
            await session.execute(delete(CompletionRow).where(*_mine(user, track)))
            session.add(IssuedBadgeRow(id=completion_id, at=moment))
            session.add(
                CompletionRow(
                    id=completion_id,
                    token_hash=digest(token),
                    user_id=user.id,
                    track=track,
                    verified=verified.model_dump(mode="json"),
                    created_at=moment,
                )
            )
        return token

    async def revoke(self, user: User, track: str) -> None:
        """The link stops working at once, and the list of revoked badges names its badge.

        The track may be gone by now.
        """
        if "\0" in track:  # PostgreSQL refuses it in a parameter, and no track has it.
            return
        async with self._database.writing() as session:
            await session.execute(delete(CompletionRow).where(*_mine(user, track)))

    async def read(self, token: str) -> Completion:
        """What a link leads to. Raises `CompletionNotFound`."""
        query = (
            select(CompletionRow, UserRow.name)
            .join(UserRow, UserRow.id == CompletionRow.user_id)
            .where(CompletionRow.token_hash == digest(token))
        )
        async with self._database.reading() as session:
            found = (await session.execute(query)).first()
        if found is None:
            raise CompletionNotFound(
                "Its owner has stopped sharing this page, or the link is incomplete. Ask them for a new one."
            )
        row, name = found
        return Completion(row.id, name, Verified.model_validate(row.verified), row.created_at)

    async def revoked(self) -> list[str]:
        """The ids of all badges that no longer hold: their owner or the end of an account revoked them."""
        holds = select(CompletionRow.id)
        query = select(IssuedBadgeRow.id).where(IssuedBadgeRow.id.not_in(holds)).order_by(IssuedBadgeRow.at)
        async with self._database.reading() as session:
            return list(await session.scalars(query))

    def _section(self, track: str) -> Section:
        for each in self._catalogue.sections():
            if each.id == track:
                return each
        known = ", ".join(each.id for each in self._catalogue.sections())
        raise TrackNotFound(f"There is no track {track[:40]!r}. The tracks are: {known or 'none'}.")


def _mine(user: User, track: str) -> tuple[ColumnElement[bool], ...]:
    return CompletionRow.user_id == user.id, CompletionRow.track == track
