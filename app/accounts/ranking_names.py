"""How users appear in rankings: by their name, by another one, or not at all."""

from dataclasses import dataclass

from sqlalchemy import func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.text_rules import check_name, name_taken
from app.core.database import Database


@dataclass(frozen=True, slots=True)
class RankingName:
    """`name` is empty for the name of the account."""

    name: str
    is_public: bool


async def read_ranking_name(database: Database, user: User) -> RankingName:
    async with database.reading() as session:
        query = select(UserRow.ranking_name, UserRow.in_rankings).where(UserRow.id == user.id)
        name, is_public = (await session.execute(query)).one()
    return RankingName(name or "", is_public)


async def is_ranking_name(session: AsyncSession, name: str) -> bool:
    """Whether someone appears in rankings under this name. No account may then take it, or it would pass for theirs."""
    return await session.scalar(select(UserRow.id).where(UserRow.ranking_name == name)) is not None


async def set_ranking_name(database: Database, user: User, name: str, *, is_public: bool) -> None:
    """Without a name, the user appears by the name of the account.

    Raises:
      NameInvalid.
      NameTaken: someone else has this name, as an account or in rankings.
    """
    chosen = check_name(name) if name.strip() else None
    try:
        async with database.writing() as session:
            theirs = select(func.count()).where(
                UserRow.id != user.id, or_(UserRow.name == chosen, UserRow.ranking_name == chosen)
            )
            if chosen is not None and await session.scalar(theirs):
                raise name_taken(chosen)
            values = {"ranking_name": chosen, "in_rankings": is_public}
            await session.execute(update(UserRow).where(UserRow.id == user.id).values(values))
    except IntegrityError:  # somebody else took it at the same time
        raise name_taken(chosen or "") from None
