"""The gradebook as tables for files: with all that is known, and as Canvas and Moodle import it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

from app.teaching.courses.grade_arithmetic import POINT, shown_points
from app.teaching.courses.gradebook import Column, Line
from app.teaching.courses.service import Assignment
from app.teaching.identities.identity import RosterIdentity

Format = Literal["", "canvas", "moodle"]
Table: TypeAlias = tuple[list[str], list[list[object]]]
# What the roster says of a student, by the name of the column.
IDENTITY = {
    "real name": "name",
    "first name": "given_name",
    "surname": "family_name",
    "email": "email",
    "student number": "student_number",
    "login": "login",
    "section": "section",
}


def table_of(columns: Sequence[Column], lines: Sequence[Line]) -> Table:
    """Head and rows, with all students. A cell from which a student is excused says so. The last column names the
    problems whose points were changed by hand.
    """
    problems = [f"{each.assignment.name}: {' or '.join(each.problems)}" for each in columns]
    worth = [f"{problem} ({each.points})" for problem, each in zip(problems, columns, strict=True)]
    rows: list[list[object]] = []
    for line in lines:
        cells = zip(problems, line.cells, strict=True)
        changed = "; ".join(problem for problem, cell in cells if cell.changed_by_hand)
        known = line.identity.model_dump() if line.identity else {}
        person = [known.get(each) for each in IDENTITY.values()]
        values = ("excused" if cell.is_excused else cell.points for cell in line.cells)
        rows.append([line.name, *person, *values, line.total, line.possible, line.percent, changed or None])
    return ["name", *IDENTITY, *worth, "total", "possible", "percent", "changed by hand"], rows


def canvas_table(columns: Sequence[Column], lines: Sequence[Line]) -> Table:
    """A column for each assignment. Students whom Canvas could not find are left out.

    https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807
    """
    assignments = _assignments(columns)
    most = [sum(each.points for each in columns if each.assignment.id == it.id) for it in assignments]
    rows: list[list[object]] = [["    Points Possible", None, None, None, None, *most]]
    for line in lines:
        who = line.identity
        if who is not None and (who.external_id or who.student_number or who.login):
            first, last = _parts(who)
            name = f"{last}, {first}" if first and last else who.name or line.name
            person = [name, who.external_id, who.student_number, who.login, who.section]
            rows.append([*person, *_sums(assignments, columns, line, "EX")])
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    return [*head, *_titles(assignments)], rows


def moodle_table(columns: Sequence[Column], lines: Sequence[Line]) -> Table:
    """A column for each assignment. Students whom Moodle could not find are left out.

    https://docs.moodle.org/en/Grade_import
    """
    assignments = _assignments(columns)
    rows: list[list[object]] = []
    for line in lines:
        who = line.identity
        if who is not None and (who.student_number or who.email):
            person = [*_parts(who), who.student_number, who.email]
            rows.append([*person, *_sums(assignments, columns, line, None)])
    return ["First name", "Surname", "ID number", "Email address", *_titles(assignments)], rows


def _assignments(columns: Sequence[Column]) -> list[Assignment]:
    return list({each.assignment.id: each.assignment for each in columns}.values())


def _titles(assignments: Sequence[Assignment]) -> list[str]:
    """Both platforms find a column by its title, so each must be unique."""
    titles: list[str] = []
    for each in assignments:
        number = titles.count(each.name) and sum(title.startswith(each.name) for title in titles) + 1
        titles.append(f"{each.name} ({number})" if number else each.name)
    return titles


def _sums(
    assignments: Sequence[Assignment], columns: Sequence[Column], line: Line, excused: str | None
) -> list[object]:
    """The points at each assignment; None if nothing that counts was submitted or given.

    A platform has the same most points for everyone, so where more or less was possible for the student, the points are
    a part of that. `excused` is for someone whom nothing at the assignment counts for.
    """
    sums: list[object] = []
    for it in assignments:
        within = [
            (column, cell) for cell, column in zip(line.cells, columns, strict=True) if column.assignment.id == it.id
        ]
        earned = [cell.amounts.earned for _, cell in within if cell.amounts.earned is not None]
        most = sum(column.points for column, _ in within) * POINT
        possible = sum(cell.amounts.possible for _, cell in within)
        if all(cell.is_excused for _, cell in within):
            sums.append(excused)
        elif not earned:
            sums.append(None)
        else:
            sums.append(shown_points(Fraction(sum(earned) * most) / possible if possible else sum(earned)))
    return sums


def _parts(who: RosterIdentity) -> tuple[str, str]:
    """First name and surname, from the whole name if the roster does not say."""
    if who.given_name or who.family_name:
        return who.given_name, who.family_name
    first, _, last = who.name.rpartition(" ")
    return first, last
