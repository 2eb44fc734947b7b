"""Reads a roster: CSV whose first row names its columns, as people write it and as Canvas and Moodle export it."""

import csv
import io
import re
from collections.abc import Iterator

from app.accounts.invitations import LONGEST_NOTE
from app.accounts.text_rules import check_line, normal_name
from app.core.errors import FieldInvalid
from app.teaching.courses.errors import RosterInvalid
from app.teaching.courses.roster_columns import EXAMPLE, Field, field_of, is_of_canvas
from app.teaching.courses.roster_text import encoding_warning
from app.teaching.courses.service import MemberRole
from app.teaching.identities.identity import RosterIdentity

MOST_ROWS = 1000
LONGEST_ROSTER = 500_000
# The text that a row may have in each column.
LONGEST: dict[Field, int] = {
    "username": LONGEST_NOTE,
    "name": 200,
    "given_name": 100,
    "family_name": 100,
    "email": 200,
    "student_number": 100,
    "login": 100,
    "external_id": 100,
    "section": 200,
    "role": 100,
}
# The first line of some exports, for Excel.
_SEPARATOR = re.compile(r"sep=([,;\t])\r?\n", re.IGNORECASE)
_STUDENTS = frozenset({"", "student", "learner"})
_ASSISTANTS = frozenset({"assistant", "ta", "teaching assistant", "non-editing teacher", "tutor"})
_STAFF = "has the role {role!r}. Instructors are added in the settings of the course."


class RosterRow(RosterIdentity):
    """A person as a row names them. `number` is the row that a spreadsheet shows: 2 for the first person.

    `fault` says why the roster cannot be imported, `skip` why only this row is not, and `warning` what looks wrong.
    """

    number: int
    username: str = ""
    role: MemberRole = "student"
    fault: str = ""
    skip: str = ""
    warning: str = ""

    @property
    def identity(self) -> RosterIdentity:
        return RosterIdentity.of(self)

    @property
    def label(self) -> str:
        """What tells the instructor whose invitation it is."""
        who = self.name or self.username or self.student_number or self.login
        text = f"{who} ({self.email})" if who and self.email else who or self.email
        return text if len(text) <= LONGEST_NOTE else (who or self.email)[:LONGEST_NOTE]


def read_roster(text: str) -> list[RosterRow]:
    """Its rows in order, without empty ones. A column with another name is ignored.

    Raises:
      RosterInvalid: there is no row, there are too many, or the first one does not name the columns.
    """
    text = text.removeprefix("\ufeff").lstrip("\r\n")
    separator = _SEPARATOR.match(text)
    text = text[separator.end() :] if separator else text
    first = text.partition("\n")[0]
    records = _records(text, separator[1] if separator else max(",;\t", key=first.count))
    heads = next(records, (0, [], ""))[1]
    fields = _fields(heads, first)
    is_canvas = is_of_canvas(heads)
    rows: list[RosterRow] = []
    seen: dict[str, int] = {}
    for number, cells, fault in records:
        if not fault and _is_empty(fields, cells, is_canvas=is_canvas):
            continue
        if len(rows) == MOST_ROWS:
            raise RosterInvalid(f"The roster has more than {MOST_ROWS} people. Split it.")
        row = (
            RosterRow(number=number, fault=fault) if fault else _row(number, heads, fields, cells, is_canvas=is_canvas)
        )
        if is_canvas and (row.family_name, row.given_name) == ("Student", "Test") and not row.login:
            row = _changed(row, fault="", skip="Canvas adds this student to every course for tests.")
        rows.append(_once(row, seen))
    if not rows:
        raise RosterInvalid("The roster has no people. Below the column names, add a row for each person.")
    return rows


def _fields(heads: list[str], first: str) -> list[Field | None]:
    """The meaning of each column. Raises `RosterInvalid`."""
    fields = field_of(heads)
    names = [each.strip().lower() for each, field in zip(heads, fields, strict=True) if field]
    if set(fields) <= {None, "role", "section"}:
        raise RosterInvalid(
            "Row 1 must name the columns, with at least one of username, name, email and student number. It is "
            f"{first[:80]!r}. For example: {EXAMPLE}"
        )
    if repeated := next((each for each in names if names.count(each) > 1), None):
        raise RosterInvalid(f"Row 1 names the column {repeated!r} twice. Rename or remove one of them.")
    return fields


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


def _is_empty(fields: list[Field | None], cells: list[str], *, is_canvas: bool) -> bool:
    """Whether the row is about nobody: Canvas has rows below the heads that are about the columns."""
    if not any(each.strip() for each in cells):
        return True
    known = [cell.strip() for field, cell in zip(fields, cells, strict=False) if field]
    return is_canvas and (not any(known) or [each for each in known if each] == ["Points Possible"])


def _row(number: int, heads: list[str], fields: list[Field | None], cells: list[str], *, is_canvas: bool) -> RosterRow:
    if len(cells) > len(heads) and any(each.strip() for each in cells[len(heads) :]):
        return RosterRow(
            number=number,
            fault=f"It has {len(cells)} cells, but row 1 names {len(heads)}. Quote a cell that contains a comma.",
        )
    values: dict[Field, str] = {}
    for field, cell in zip(fields, cells, strict=False):
        if field and not values.get(field):
            values[field] = cell.strip()
    if fault := _long_or_odd(values):
        return RosterRow(number=number, fault=fault)
    role, skip = _role(values.pop("role", ""))
    values["username"] = normal_name(values.get("username", ""))
    _complete(values, is_canvas=is_canvas)
    warning = next(filter(None, map(encoding_warning, values.values())), "")
    row = RosterRow.model_validate({"number": number, "role": role, "skip": skip, "warning": warning, **values})
    return _changed(row, fault="" if skip else _fault(row))


def _changed(row: RosterRow, **values: str) -> RosterRow:
    return row.model_copy(update=values)


def _complete(values: dict[Field, str], *, is_canvas: bool) -> None:
    """Canvas writes "Lovelace, Ada", and Moodle the parts of a name. Many people sign in there with their address."""
    last, _, first = (each.strip() for each in values.get("name", "").partition(","))
    if is_canvas and last and first:
        values["name"] = f"{first} {last}"
        values["given_name"] = values.get("given_name") or first
        values["family_name"] = values.get("family_name") or last
    if not values.get("name"):
        parts = [values.get("given_name", ""), values.get("family_name", "")]
        values["name"] = " ".join(filter(None, parts))[: LONGEST["name"]]
    login = values.get("login", "")
    values["email"] = (values.get("email") or (login if _is_address(login) else "")).lower()


def _role(text: str) -> tuple[MemberRole, str]:
    """The role in the course, or why people with this role are skipped."""
    # Moodle separates several by commas.
    names = {each.strip().lower() for each in text.split(",")}
    if names <= _STUDENTS:
        return "student", ""
    if names <= _STUDENTS | _ASSISTANTS:
        return "assistant", ""
    return "student", _STAFF.format(role=text[:40])


def _long_or_odd(values: dict[Field, str]) -> str:
    for field, text in values.items():
        longest = LONGEST[field]
        try:
            check_line(field, text, longest, empty=True)
        except FieldInvalid:
            name = field.replace("_", " ")
            return f"{name}: it must be one line of at most {longest} characters, without control characters."
    return ""


def _fault(row: RosterRow) -> str:
    if not row.label:
        return "It names nobody. Fill in a name, an email, a student number or a username."
    if row.email and not _is_address(row.email):
        return f"email: {row.email!r} is not an email address. Correct it, or leave it empty."
    return ""


def _is_address(text: str) -> bool:
    local, at, host = text.partition("@")
    return bool(local and at and "." in host and "@" not in host and " " not in text and text.isprintable())


def _once(row: RosterRow, seen: dict[str, int]) -> RosterRow:
    """The row, with a fault if an earlier one is of the same person."""
    keys = {"username": row.username, "email": row.email, "student number": row.student_number}
    for name, value in keys.items():
        key = f"{name} {value!r}"
        if value and not row.fault and not row.skip and (earlier := seen.setdefault(key, row.number)) != row.number:
            row = _changed(row, fault=f"Row {earlier} has the same {key}. Remove one.")
    return row
