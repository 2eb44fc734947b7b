"""A table for a terminal of any width, which never cuts a word."""

from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from grader.core.text import plain_text

# Wider than any table, so that Rich does not fit one into the terminal by cutting its words.
_UNBOUNDED = 100_000


class FittedTable:
    """Rows of text. If the table is too wide for the terminal, names of columns take two lines, and then the parts of a
    cell stand one below the other.

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
        for stacks_names, stacks_parts in ((False, False), (True, False), (True, True)):
            table = self._table(stacks_names=stacks_names, between="\n" if stacks_parts else " ")
            width = _natural_width(console, table)
            if width <= console.width:
                break
        else:
            table.width = width
        console.print(table, crop=False)

    def _table(self, *, stacks_names: bool, between: str) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in self._names:
            header = "\n".join(name.rsplit(maxsplit=1)) if stacks_names else name
            table.add_column(header, justify="right" if name in self._right else "left", no_wrap=True)
        for row in self._rows:
            table.add_row(*(Text(between.join(map(plain_text, cell))) for cell in row))
        return table


def _natural_width(console: Console, table: Table) -> int:
    return Measurement.get(console, console.options.update(max_width=_UNBOUNDED), table).maximum


def axes_parts(axes: Sequence[str] | None) -> list[str]:
    """The parts of the cell that names the axes of a collective."""
    return ", ".join(axes).split() if axes else ["no axis", "of the mesh"]
