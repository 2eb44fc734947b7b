"""Everything about a course as one zip file: what was submitted, points, roster, and entries of the audit log.

It is streamed: only the gradebook and a few submissions are in memory at a time.
"""

import io
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import select, tuple_
from sqlalchemy.orm import aliased

from app.accounts.audit.log import LONGEST_DETAIL, record
from app.accounts.audit.models import AuditRow
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.grading.queue.models import AttemptRow
from app.problems.catalogue import Catalogue
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.gradebook import Column, Line, columns_of, gradebook
from app.teaching.courses.gradebook_files import IDENTITY, table_of
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.roster_people import RosterPeople
from app.teaching.courses.safe_csv import csv_of
from app.teaching.courses.service import Assignment, Course, Courses

# A source may have 64 KiB.
_ATTEMPTS_AT_ONCE = 20
_PEOPLE_AT_ONCE = 100


class CourseExports:
    """Safe to share between requests. The routes check that the caller teaches the course."""

    def __init__(
        self,
        database: Database,
        courses: Courses,
        members: CourseMembers,
        people: RosterPeople,
        catalogue: Catalogue,
    ) -> None:
        self._database = database
        self._courses = courses
        self._members = members
        self._people = people
        self._catalogue = catalogue

    async def note(self, user: User, course: Course) -> None:
        async with self._database.writing() as session:
            record(session, user, "course-exported", None, "", course.name[:LONGEST_DETAIL], course.id)

    async def archive(self, course: Course) -> AsyncIterator[bytes]:
        """The parts of the zip file. Read without a transaction in between, because a browser may read slowly."""
        written = _Written()
        with ZipFile(written, "w", ZIP_DEFLATED) as archive:
            async for name, text in self._files(course):
                archive.writestr(name, text)
                if part := written.take():
                    yield part
        yield written.take()

    async def _files(self, course: Course) -> AsyncIterator[tuple[str, str]]:
        assignments = await self._courses.assignments(course)
        columns = columns_of(assignments)
        lines = (await gradebook(self._database, course, columns)).items
        head, rows = table_of(columns, lines)
        yield "gradebook.csv", csv_of([head, *rows])
        yield "roster.csv", csv_of(await self._roster(course))
        yield "audit.csv", csv_of(await self._audit(course))
        folders, people = _Names(), _Names()
        places = [(each, folders.unique(each.name)) for each in assignments]
        for line in lines:
            person = people.unique(line.name)
            files: dict[str, list[Sequence[object]]] = {each.id: [_HEAD] for each in assignments}
            numbers: Counter[tuple[str, str]] = Counter()
            async for attempt in self._attempts(line, assignments):
                for each, folder in places:
                    if attempt.created_at >= each.opens_at and attempt.problem in {it.problem for it in each.problems}:
                        numbers[each.id, attempt.problem] += 1
                        file = f"{attempt.problem}/{numbers[each.id, attempt.problem]}-attempt.{self._ending(attempt)}"
                        files[each.id].append(_row(course, file, attempt))
                        yield f"{folder}/{person}/{file}", attempt.source
            for each, folder in places:
                yield f"{folder}/{person}/points.csv", csv_of(_points(each, columns, line))
                yield f"{folder}/{person}/attempts.csv", csv_of(files[each.id])

    def _ending(self, attempt: Any) -> str:
        package = next((each for each in self._catalogue.all() if each.slug == attempt.problem), None)
        return "txt" if package is not None and package.manifest.mode == "answer" else "py"

    async def _attempts(self, line: Line, assignments: Sequence[Assignment]) -> AsyncIterator[Any]:
        """Those of a student since the first assignment opened, oldest first."""
        if not assignments:
            return
        row = AttemptRow
        query = (
            select(row.id, row.problem, row.created_at, row.status, row.verdict_status, row.score, row.source)
            .where(
                row.user_id == line.id,
                row.kind == "attempt",
                row.problem.in_({it.problem for each in assignments for it in each.problems}),
                row.created_at >= min(each.opens_at for each in assignments),
            )
            .order_by(row.created_at, row.id)
            .limit(_ATTEMPTS_AT_ONCE)
        )
        page = query
        while True:
            async with self._database.reading() as session:
                found = (await session.execute(page)).all()
            for each in found:
                yield each
            if len(found) < _ATTEMPTS_AT_ONCE:
                return
            page = query.where(tuple_(row.created_at, row.id) > tuple_(found[-1].created_at, found[-1].id))

    async def _roster(self, course: Course) -> list[Sequence[object]]:
        rights = {each.id: ", ".join(each.rights) for each in await self._members.assistants(course)}
        heads = ("account", "role", "rights", "state", *(each.replace("_", " ") for each in IDENTITY.values()))
        rows: list[Sequence[object]] = [heads]
        after = None
        while True:
            found = await self._people.list(course, Cursor(_PEOPLE_AT_ONCE, after))
            for each in found:
                known = each.identity.model_dump() if each.identity else {}
                of_person = (each.account, each.role, rights.get(each.id or ""), each.state)
                rows.append((*of_person, *(known.get(name) for name in IDENTITY.values())))
            if found.next is None:
                return rows
            after = found.next

    async def _audit(self, course: Course) -> list[Sequence[object]]:
        row, actor, whom = AuditRow, aliased(UserRow), aliased(UserRow)
        query = (
            select(row.at, actor.name, row.action, whom.name, row.detail, row.reason)
            .outerjoin(actor, actor.id == row.user_id)
            .outerjoin(whom, whom.id == row.whom_id)
            .where(row.course_id == course.id)
            .order_by(row.at, row.id)
        )
        async with self._database.reading() as session:
            found = (await session.execute(query)).all()
        local = [(_local(course, each[0]), *each[1:]) for each in found]
        return [("at", "who", "action", "whom", "detail", "reason"), *local]


_HEAD = ("file", "sent at", "status", "score")


def _row(course: Course, file: str, attempt: Any) -> Sequence[object]:
    return file, _local(course, attempt.created_at), attempt.verdict_status or attempt.status, attempt.score


def _points(assignment: Assignment, columns: Sequence[Column], line: Line) -> list[Sequence[object]]:
    cells = zip(columns, line.cells, strict=True)
    return [
        ("problem", "points", "of", "late"),
        *(
            (" or ".join(column.problems), cell.points, column.points, "late" if cell.late else None)
            for column, cell in cells
            if column.assignment.id == assignment.id
        ),
    ]


def _local(course: Course, moment: datetime) -> str:
    return to_local(moment, course.time_zone).isoformat(timespec="seconds")


class _Names:
    """Names of folders that every file system takes, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, name: str) -> str:
        plain = re.sub(r"[^\w ()-]", "_", name).strip() or "_"
        found, number = plain, 1
        while found.casefold() in self._taken:
            number += 1
            found = f"{plain} ({number})"
        self._taken.add(found.casefold())
        return found


class _Written(io.RawIOBase):
    """What was written to the zip file since it was last taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
