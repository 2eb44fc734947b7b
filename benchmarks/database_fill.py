"""Fill a database with any number of attempts, in the proportions of a class that has practised for a year."""

import random
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from sqlalchemy import Connection, Table, insert, text

from app.accounts.models import UserRow
from app.accounts.service import Accounts
from app.core.database import Database
from app.core.migrate import migrate
from app.grading.queue.models import AttemptRow
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow
from benchmarks.workload import CHECKOUT, PROGRAM_SLUG

USERS, PROBLEMS, STUDENTS, ASSIGNMENTS = 5_000, 60, 1_000, 6
COURSE_ID = "course".ljust(32, "0")
# One attempt in fifty belongs to the owner, the heavy user, and one in five is for the heavy problem.
_OWNERS, _AT_HEAVY = 50, 5
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_SOURCE = (CHECKOUT / "problems" / PROGRAM_SLUG / "reference.py").read_text().ljust(2048, "#")[:2048]
# Verdicts on shipped submissions, and how often each occurs here. A verdict has 5 kB on average.
_VERDICTS = {"call_accepted": 45, "call_rejected": 50, "program_accepted": 5}
_COLUMNS = (
    "id user_id problem version kind source status priority tries verdict verdict_status score efficiency "
    "created_at started_at finished_at"
).split()


def write_problems(folder: Path) -> list[str]:
    """Copy the shipped problems, some more than once under new names. Returns the slugs, the heavy problem's first."""
    shipped = sorted(each for each in (CHECKOUT / "problems").iterdir() if (each / "problem.toml").exists())
    shipped.sort(key=lambda each: each.name != PROGRAM_SLUG)
    slugs = []
    for number in range(PROBLEMS):
        source = shipped[number % len(shipped)]
        slugs.append(f"{source.name}_{number}" if number >= len(shipped) else source.name)
        shutil.copytree(source, folder / slugs[-1], ignore=shutil.ignore_patterns("__pycache__"))
        manifest = folder / slugs[-1] / "problem.toml"
        lines = [
            f'slug = "{slugs[-1]}"'
            if line.startswith("slug =")
            else f'uuid = "{uuid.uuid4()}"'
            if line.startswith("uuid =")
            else line
            for line in manifest.read_text().splitlines()
        ]
        manifest.write_text("\n".join(lines))
    return slugs


async def fill_course(database: Database, slugs: list[str]) -> None:
    """Create a course of a thousand students whose assignments cover all problems."""
    within = [{"course_id": COURSE_ID, "user_id": f"user{number:028}"} for number in range(1, STUDENTS + 1)]
    assignments = [
        {
            "id": f"assignment{number:022}",
            "course_id": COURSE_ID,
            "name": f"Week {number}",
            "opens_at": _BEGIN,
            "due_at": _BEGIN + timedelta(days=30 * number),
            "late_percent": 10,
        }
        for number in range(1, ASSIGNMENTS + 1)
    ]
    problems = [
        {
            "assignment_id": assignments[number % ASSIGNMENTS]["id"],
            "position": number,
            "problem": slug,
            "points": 100,
        }
        for number, slug in enumerate(slugs)
    ]
    course = {"id": COURSE_ID, "name": "Course", "time_zone": "UTC", "join_code": "benchmark", "created_at": _BEGIN}
    async with database.writing() as session:
        await session.execute(insert(CourseRow), [course])
        await session.execute(insert(MemberRow), [{**each, "role": "student", "joined_at": _BEGIN} for each in within])
        await session.execute(insert(AssignmentRow), assignments)
        await session.execute(insert(AssignmentProblemRow), problems)


async def fill(database: Database, slugs: list[str], attempts: int) -> None:
    """Create the tables, the users and their attempts. The owner has the most attempts."""
    await migrate(database)
    owner = await Accounts(database, session_life=timedelta(), link_life=timedelta()).ensure_owner()
    others = [
        {"id": f"user{number:028}", "name": f"user {number}", "role": "student", "created_at": _BEGIN}
        for number in range(1, USERS)
    ]
    async with database.writing() as session:
        await session.execute(insert(UserRow), others)
    rows = _rows(attempts, [owner.id, *(str(each["id"]) for each in others)], slugs)
    # Build the indexes at the end: a million insertions into each would take longer than everything else here.
    async with database.engine.begin() as connection:
        await connection.run_sync(_drop_indexes)
    if database.engine.dialect.name == "sqlite":
        _fill_sqlite(str(database.engine.url.database), rows)
    else:
        _copy_to_postgresql(database.engine.url.set(drivername="postgresql").render_as_string(False), rows)
    async with database.engine.execution_options(writer=True).begin() as connection:
        await connection.run_sync(lambda sync: [index.create(sync) for index in _table().indexes])
    if database.engine.dialect.name == "postgresql":
        # Autovacuum would do this within minutes. SQLite gets no statistics here, because the service collects none.
        async with database.engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE"))


def attempt_id(number: int) -> str:
    return f"{number:032x}"


def owners_attempt(place: int) -> str:
    """Return the id of the owner's attempt with this number, counted from the oldest, which is 0."""
    return attempt_id(place * _OWNERS)


def _rows(count: int, users: list[str], slugs: list[str]) -> Iterator[tuple[object, ...]]:
    chance = random.Random(1)
    verdicts = {name: (CHECKOUT / "benchmarks" / "verdicts" / f"{name}.json").read_text() for name in _VERDICTS}
    names = chance.choices(list(_VERDICTS), list(_VERDICTS.values()), k=1000)
    for number in range(count):
        name = names[number % 997]
        at_heavy = number // _OWNERS % _AT_HEAVY == 0
        is_run = chance.random() < 0.3
        accepted = name != "call_rejected"
        at = _BEGIN + timedelta(seconds=30 * number)
        yield (
            attempt_id(number),
            users[0] if number % _OWNERS == 0 else users[int(1 + chance.random() * (len(users) - 1))],
            slugs[0] if at_heavy else slugs[int(1 + chance.random() * (len(slugs) - 1))],
            "a" * 64,
            "run" if is_run else "attempt",
            _SOURCE,
            "finished",
            0 if is_run else 10,
            1,
            verdicts[name],
            "accepted" if accepted else "rejected",
            None if is_run else 100 if accepted else 0,
            # About half score exactly 100, as in problems that leave little choice.
            None if is_run or not accepted else max(100.0, round(chance.uniform(80, 120), 1)),
            *(moment.strftime("%Y-%m-%d %H:%M:%S.%f") for moment in (at, at, at + timedelta(seconds=1))),
        )


def _table() -> Table:
    table = AttemptRow.__table__
    assert isinstance(table, Table)
    return table


def _drop_indexes(connection: Connection) -> None:
    for index in _table().indexes:
        index.drop(connection)


def _fill_sqlite(file: str, rows: Iterator[tuple[object, ...]]) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        into = f"INSERT INTO attempts ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
        connection.executemany(into, rows)
    connection.close()


def _copy_to_postgresql(url: str, rows: Iterator[tuple[object, ...]]) -> None:
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET timezone TO 'UTC'")
        with cursor.copy(f"COPY attempts ({', '.join(_COLUMNS)}) FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)
