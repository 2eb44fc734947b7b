"""A table for a terminal of any width, which never cuts a word."""

import textwrap
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from app.presentation.table import Cell, Column, Table
from grader.core.text import plain_text

# Wider than any table, so that Rich does not fit one into the terminal by cutting its words.
_UNBOUNDED = 100_000
# Characters of a value and of a note on one line of a cell, where a table is too wide for the terminal.
_NARROW, _NOTE = 20, 28


class FittedTable:
    """Rows of text. If the table is too wide for the terminal, names of columns take two lines, and then the parts of a
    cell stand one below the other: those of the last column first.

    A table that is too wide even then keeps its width, and the terminal wraps its lines: half a collective's name says
    nothing. Cells may come from a submission, so they are shown without terminal escapes and markup.
    """

    def __init__(self, *names: str, right: Sequence[str] = ()) -> None:
        """`names` are those of the columns. Those that are also in `right` are aligned to the right."""
        self._names, self._right = names, right
        self._rows: list[tuple[tuple[str, ...], ...]] = []

    def add_row(self, *cells: str | Sequence[str]) -> None:
        """Add a row with one cell for each column: a text, or the parts of one."""
        self._rows.append(tuple((cell,) if isinstance(cell, str) else tuple(cell) for cell in cells))

    def print_to(self, console: Console) -> None:
        last = len(self._names) - 1
        for stacks_names, stacked in ((False, ()), (True, ()), (True, (last,)), (True, range(last + 1))):
            table = self._table(stacks_names=stacks_names, stacked=stacked)
            width = _natural_width(console, table)
            if width <= console.width:
                break
        else:
            table.width = width
        console.print(table, crop=False)

    def _table(self, *, stacks_names: bool, stacked: Collection[int]) -> RichTable:
        """`stacked` has the numbers of the columns whose parts stand one below the other."""
        table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in self._names:
            header = "\n".join(name.rsplit(maxsplit=1)) if stacks_names else name
            table.add_column(header, justify="right" if name in self._right else "left", no_wrap=True)
        for row in self._rows:
            cells = (
                ("\n" if number in stacked else " ").join(map(plain_text, row[number])) for number in range(len(row))
            )
            table.add_row(*map(Text, cells))
        return table


def _natural_width(console: Console, table: RichTable) -> int:
    return Measurement.get(console, console.options.update(max_width=_UNBOUNDED), table).maximum


def print_table(console: Console, table: Table, *, titled: bool = False) -> None:
    """Print a table that a page draws, too, and the remarks below it. With `titled`, print its title first."""
    numbers = [f"{column.group} {column.name}".strip().lower() for column in table.columns if column.is_number]
    fitted = FittedTable(*(f"{column.group} {column.name}".strip().lower() for column in table.columns), right=numbers)
    for row in table.rows:
        parts = [_parts(cell, column) for cell, column in zip(row.cells, table.columns, strict=True)]
        fitted.add_row(*parts)
    if titled:
        console.print(plain_text(table.title), markup=False, soft_wrap=True)
    fitted.print_to(console)
    for remark in table.remarks:
        console.print(plain_text(remark), markup=False)


def _parts(cell: Cell, column: Column) -> list[str]:
    """The parts between which a cell can be divided in a narrow terminal. A number keeps its unit."""
    text = [cell.text] if column.is_number else _wrapped(cell.text, _NARROW)
    # The size of a group belongs to its axes.
    sizes = [note for note in cell.notes if note.startswith("(")]
    if text and sizes:
        text[-1] = " ".join([text[-1], *sizes])
    notes = [part for note in cell.notes if note not in sizes for part in _wrapped(note, _NOTE)]
    lines = [f"line {line}" for line in cell.lines]
    return [*text, *(f"{line}," for line in lines[:-1]), *lines[-1:], *filter(None, [cell.fault]), *notes]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
