"""Tables as data, so that pages and terminals draw the same rows."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.core.web.units import NOTHING, bytes_text, exact_text


@dataclass(frozen=True, slots=True)
class Cell:
    """One value.

    Attributes:
      text: the value in words, or empty if `lines` are the value.
      notes: remarks beside the value, less prominent than it.
      fault: what is wrong with the value, such as `too much`.
      exact: the number in full with its unit, if `text` shortens it.
      lines: lines of the source, to which a page links.
      is_code: whether the text is from a program, such as a shape or a spec.
    """

    text: str = ""
    notes: tuple[str, ...] = ()
    fault: str = ""
    exact: str = ""
    lines: tuple[int, ...] = ()
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """`group` is a name above several columns that stand side by side."""

    name: str
    is_number: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One cell for each column. `line` is the line of the source that leads to the row."""

    cells: tuple[Cell, ...]
    line: int | None = None
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one kind.

    Attributes:
      title: what the rows are.
      heading: the number of the column that names a row.
      remarks: sentences below the rows, such as how many are left out.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    heading: int = 0
    remarks: tuple[str, ...] = ()

    def part(self, start: int, stop: int | None = None) -> "Table":
        """The same table with some of its rows. The remarks stay below the last one."""
        rows = self.rows[start:stop]
        return replace(self, rows=rows, remarks=self.remarks if rows[-1:] == self.rows[-1:] else ())

    @property
    def groups(self) -> Counter[str]:
        """The number of columns in each group, in their order."""
        return Counter(column.group for column in self.columns if column.group)


def columns(*names: str, numbers: Iterable[str] = ()) -> tuple[Column, ...]:
    """Columns without groups. Those in `numbers` hold numbers."""
    aligned = frozenset(numbers)
    return tuple(Column(name, is_number=name in aligned) for name in names)


def code(text: str, *notes: str) -> Cell:
    return Cell(text, notes, is_code=True)


def count(number: int | None, *, most: bool = False) -> Cell:
    """A whole number, `?` if it is unknown. With `most`, it is the largest that there can be."""
    return Cell(f"{'at most ' * most}{'?' if number is None else exact_text(number)}")


def size(number: int | None) -> Cell:
    """Bytes in a unit that fits, and in full."""
    return Cell(NOTHING) if number is None else Cell(bytes_text(number), exact=f"{exact_text(number)} bytes")


def at_lines(lines: Iterable[int | None], *notes: str) -> Cell:
    """Lines of the source, or a dash if there is none."""
    known = tuple(line for line in lines if line)
    notes = tuple(filter(None, notes))
    return Cell(lines=known, notes=notes) if known else Cell(NOTHING, notes)


def and_more(number: int, what: str = "") -> tuple[str, ...]:
    """A remark on rows that are left out, if any are: `And 3 more leaves.`"""
    return (f"And {exact_text(number)} more{f' {what}' if what else ''}.",) if number else ()
