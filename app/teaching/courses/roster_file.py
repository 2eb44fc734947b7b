"""Reads a roster: CSV whose first row names its columns, `username`, `name` and `email` in any order."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.accounts.invitations import LONGEST_NOTE
from app.accounts.text_rules import check_line, normal_name
from app.core.errors import FieldInvalid
from app.teaching.courses.errors import RosterInvalid

MOST_ROWS = 1000
LONGEST_ROSTER = 100_000
COLUMNS = ("username", "name", "email")


@dataclass(frozen=True, slots=True)
class RosterRow:
    """`number` is the row that a spreadsheet shows: 2 for the first person. `fault` says why it cannot be imported."""

    number: int
    username: str = ""
    name: str = ""
    email: str = ""
    fault: str = ""

    @property
    def label(self) -> str:
        """What tells the instructor whose invitation it is."""
        who = self.name or self.username
        text = f"{who} ({self.email})" if who and self.email else who or self.email
        return text if len(text) <= LONGEST_NOTE else (who or self.email)[:LONGEST_NOTE]


def read_roster(text: str) -> list[RosterRow]:
    """Its rows in order, without empty ones. A column with another name is ignored.

    Raises:
      RosterInvalid: there is no row, there are too many, or the first one does not name the columns.
    """
    text = text.removeprefix("\ufeff").lstrip("\r\n")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    records = _records(text, delimiter)
    heads = [each.strip().lower() for each in next(records, (0, [], ""))[1]]
    known = [each for each in heads if each in COLUMNS]
    if not known:
        raise RosterInvalid(
            f"Row 1 must name the columns: username, name or email. It is {first[:80]!r}. For example: name,email"
        )
    if repeated := next((each for each in known if known.count(each) > 1), None):
        raise RosterInvalid(f"Row 1 names the column {repeated!r} twice. Rename or remove one of them.")
    rows: list[RosterRow] = []
    seen: dict[str, int] = {}
    for number, cells, fault in records:
        if not fault and not any(each.strip() for each in cells):
            continue
        if len(rows) == MOST_ROWS:
            raise RosterInvalid(f"The roster has more than {MOST_ROWS} people. Split it.")
        row = RosterRow(number, fault=fault) if fault else _row(number, heads, cells)
        for key in filter(None, (row.username and f"username {row.username!r}", row.email and f"email {row.email!r}")):
            if not row.fault and (earlier := seen.setdefault(key, number)) != number:
                row = RosterRow(
                    number, row.username, row.name, row.email, f"Row {earlier} has the same {key}. Remove one."
                )
        rows.append(row)
    if not rows:
        raise RosterInvalid("The roster has no people. Below the column names, add a row for each person.")
    return rows


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str], str]]:
    """Number, cells and fault of each row."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    while True:
        number += 1
        try:
            yield number, next(reader), ""
        except StopIteration:
            return
        except csv.Error:
            yield (
                number,
                [],
                'A quotation mark is not closed, or text follows it. Write "" for one in a quoted cell.',
            )
            return


def _row(number: int, heads: list[str], cells: list[str]) -> RosterRow:
    if len(cells) > len(heads) and any(each.strip() for each in cells[len(heads) :]):
        return RosterRow(
            number,
            fault=f"It has {len(cells)} cells, but row 1 names {len(heads)}. Quote a cell that contains a comma.",
        )
    values = {head: cell.strip() for head, cell in zip(heads, cells, strict=False) if head in COLUMNS}
    row = RosterRow(
        number, normal_name(values.get("username", "")), values.get("name", ""), values.get("email", "").lower()
    )
    return replace(row, fault=_fault(row))


def _fault(row: RosterRow) -> str:
    for field in COLUMNS:
        try:
            check_line(field, getattr(row, field), LONGEST_NOTE, empty=True)
        except FieldInvalid:
            return f"{field}: it must be one line of at most {LONGEST_NOTE} characters, without control characters."
    if not row.label:
        return "It names nobody. Fill in a username, a name or an email."
    local, at, host = row.email.partition("@")
    if row.email and not (local and at and "." in host and " " not in row.email and "@" not in host):
        return f"email: {row.email!r} is not an email address. Correct it, or leave it empty."
    return ""
