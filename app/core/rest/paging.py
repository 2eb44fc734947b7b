"""Lists in parts: REST and pages read a list page by page, each from where the previous one ended."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query
from sqlalchemy import ColumnElement, Select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Refused
from app.core.rest.routing import refuses

T = TypeVar("T")
U = TypeVar("U")
Limit = Annotated[int, Query(ge=1, le=100)]
_NEXT = "`next` of the previous page"


@dataclass(frozen=True, slots=True)
class Cursor:
    """Which part of a list is wanted: at most `limit` entries, after the one that `after` names."""

    limit: int = 20
    after: str | None = None


# For a list that is read whole, because its own limit is low.
ALL = Cursor(1_000_000)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a list, in its order. `next` is the cursor's `after` for the next part; None if this is the last one."""

    items: Sequence[T] = ()
    next: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @classmethod
    def cut(cls, found: Sequence[T], cursor: Cursor, name: Callable[[T], str]) -> "Page[T]":
        """A page of what was found, which is one more than the cursor's limit if there is another page.

        Args:
          name: what the next cursor names an entry by.
        """
        items = found[: cursor.limit]
        return cls(items, name(items[-1]) if len(found) > cursor.limit else None)

    @classmethod
    def part(
        cls, found: Sequence[T], cursor: Cursor, name: Callable[[T], str], missing: Callable[[str], Refused]
    ) -> "Page[T]":
        """A page of a list that was computed, and is in memory. Raises `missing` if it has no entry that the cursor
        names.
        """
        if cursor.after is None:
            return cls.cut(found, cursor, name)
        place = next((place for place, each in enumerate(found) if name(each) == cursor.after), None)
        if place is None:
            raise missing(cursor.after[:64])
        return cls.cut(found[place + 1 :], cursor, name)

    def map(self, change: Callable[[T], U]) -> "Page[U]":
        return Page([change(each) for each in self.items], self.next)


async def paged(
    session: AsyncSession,
    query: Select[*tuple[Any, ...]],
    by: tuple[Any, ...],
    cursor: Cursor,
    read: Callable[..., T],
    *,
    only: Sequence[ColumnElement[bool]] = (),
    missing: Callable[[str], Refused] | None = None,
    oldest_first: bool = False,
) -> Page[T]:
    """A page of what `query` selects.

    Args:
      by: the moment and the id, for a list with the newest first (or the oldest); or the one column of its order.
      read: makes an entry from the selected columns.
      only: conditions of a filter. The entry that the cursor names need not meet them: it may just have changed.
      missing: the error if the list has no entry with the id that the cursor names. A single column has no such error:
        the page begins after the place that the entry had.
    """
    after = None if cursor.after is None else cursor.after.replace("\0", "")
    if after is None:
        conditions = list(only)
    elif missing is None:
        conditions = [*only, by[-1] > after]
    else:
        found = query.with_only_columns(*by, maintain_column_froms=True).where(by[-1] == after)
        last = (await session.execute(found)).first()
        if last is None:
            raise missing(after[:64])
        here, there = tuple_(*by), tuple_(*last)
        conditions = [*only, here > there if oldest_first else here < there]
    order = by if missing is None or oldest_first else tuple(each.desc() for each in by)
    # One more than the limit shows whether there is another page.
    listed = query.add_columns(by[-1]).where(*conditions).order_by(*order).limit(cursor.limit + 1)
    rows = (await session.execute(listed)).all()
    return Page.cut(rows, cursor, lambda row: row[-1]).map(lambda row: read(*row[:-1]))


_AN_ID = Query(pattern="^[0-9a-f]{32}$", description=_NEXT)
_A_NAME = Query(max_length=200, description=_NEXT)


def _newest_first(usual: int) -> Callable[..., Awaitable[Cursor]]:
    # Not `def`: FastAPI would call it in a thread.
    @refuses(404)
    async def newest_first(limit: Limit = usual, before: Annotated[str | None, _AN_ID] = None) -> Cursor:
        return Cursor(limit, before)

    return newest_first


def _in_order(usual: int, place: Any) -> Callable[..., Awaitable[Cursor]]:
    async def in_order(limit: Limit = usual, after: Annotated[str | None, place] = None) -> Cursor:
        return Cursor(limit, after)

    return in_order


# Parameters of routes.
NewestFirst = Annotated[Cursor, Depends(_newest_first(20))]
ById = Annotated[Cursor, Depends(_in_order(20, _AN_ID))]
ByName = Annotated[Cursor, Depends(_in_order(20, _A_NAME))]
# Of lists that were once sent whole, and that are short for most callers.
LongNewestFirst = Annotated[Cursor, Depends(_newest_first(100))]
LongById = Annotated[Cursor, Depends(_in_order(100, _AN_ID))]
LongByName = Annotated[Cursor, Depends(_in_order(100, _A_NAME))]
