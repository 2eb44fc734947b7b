"""The order of a gradebook's lines: by real name, by the points of one column or of all, or by percent."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.database import Database
from app.core.errors import FieldInvalid
from app.core.rest.paging import ALL, Cursor, Page
from app.teaching.courses.gradebook import EVERY_LINE, Column, Line, LineFilter, gradebook
from app.teaching.courses.service import Course


@dataclass(frozen=True, slots=True)
class Order:
    """`by` is `name`, `total`, `percent`, or a column's place, from 1. `falls`: the last name or the most first."""

    by: str = "name"
    falls: bool = False

    @classmethod
    def read(cls, text: str, columns: int) -> "Order":
        """Of the address: `total`, or `-total` if it falls. Anything that the page does not offer is by name."""
        by = text.removeprefix("-")
        offered = {"name", "total", "percent", *(str(place) for place in range(1, columns + 1))}
        return cls(by, text.startswith("-")) if by in offered else cls()

    @classmethod
    def require(cls, text: str, columns: int) -> "Order":
        """As `read`. Raises `FieldInvalid` for a column that does not exist."""
        order = cls.read(text, columns)
        if text and str(order) != text:
            raise FieldInvalid(f"sort: there is no column {text[:20]!r}. The gradebook has {columns} columns, from 1.")
        return order

    def __str__(self) -> str:
        return ("-" if self.falls else "") + self.by

    @property
    def is_by_name(self) -> bool:
        return self == Order()

    def link(self, by: str) -> str:
        """What a column's head leads to: its order, most points first, or the reverse if it is in that order."""
        falls = not self.falls if by == self.by else by != "name"
        return str(Order(by, falls))

    def aria(self, by: str) -> str:
        return "none" if by != self.by else "descending" if self.falls else "ascending"

    def sort(self, lines: Sequence[Line]) -> list[Line]:
        """Lines by name in this order. Equal points stay by name, and students who submitted nothing come last in
        either order.
        """
        if self.by == "name":
            return list(reversed(lines)) if self.falls else list(lines)
        points = {line.id: self._value(line) for line in lines}
        sign = -1 if self.falls else 1
        return sorted(lines, key=lambda line: (points[line.id] is None, sign * (points[line.id] or 0)))

    def _value(self, line: Line) -> float | None:
        match self.by:
            case "total":
                return line.total
            case "percent":
                return line.percent
            case _:
                return line.cells[int(self.by) - 1].points


async def ordered_lines(
    database: Database,
    course: Course,
    columns: Sequence[Column],
    order: Order,
    cursor: Cursor = ALL,
    matching: LineFilter = EVERY_LINE,
) -> Page[Line]:
    """A page of the gradebook. By name, the cursor names an account; in another order, it is a place in it."""
    if order.is_by_name:
        return await gradebook(database, course, columns, cursor, matching=matching)
    lines = order.sort((await gradebook(database, course, columns, matching=matching)).items)
    after = cursor.after
    start = int(after) if after and after.isascii() and after.isdecimal() and len(after) < 7 else 0
    end = start + cursor.limit
    return Page(lines[start:end], str(end) if end < len(lines) else None)
