"""The order of a gradebook's lines on its page: by name, or by the points of one column or of all."""

from dataclasses import dataclass

from app.teaching.courses.gradebook import Line


@dataclass(frozen=True, slots=True)
class Order:
    """`by` is `name`, `total`, or the place of a column, from 1. `falls`: the last name or the most points first."""

    by: str = "name"
    falls: bool = False

    @classmethod
    def read(cls, text: str, columns: int) -> "Order":
        """Of the address: `total`, or `-total` if it falls. Anything that the page does not offer is by name."""
        by = text.removeprefix("-")
        offered = {"name", "total", *(str(place) for place in range(1, columns + 1))}
        return cls(by, text.startswith("-")) if by in offered else cls()

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

    def sort(self, lines: list[Line]) -> list[Line]:
        """Equal points by name. Students who submitted nothing come last in either order."""
        lines = sorted(lines, key=lambda line: line.name, reverse=self.falls and self.by == "name")
        if self.by == "name":
            return lines
        points = {line.id: line.total if self.by == "total" else line.cells[int(self.by) - 1].points for line in lines}
        sign = -1 if self.falls else 1
        return sorted(lines, key=lambda line: (points[line.id] is None, sign * (points[line.id] or 0)))
