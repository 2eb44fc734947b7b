"""The operator's rules delete old runs, and students whose courses ended long ago."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from app.accounts.audit.models import AuditRow
from app.accounts.models import APITokenRow, SessionRow, UserRow
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue
from app.teaching.courses.models import AssignmentRow, CourseRow, MemberRow
from app.teaching.retention import Retention, RetentionRules

pytestmark = pytest.mark.anyio
LONG_AGO, LATELY = timedelta(days=400), timedelta(days=10)


class NoQueue:
    async def cancel(self, attempt_id: str) -> None:
        raise AssertionError("nothing waits here")


def retention(database: Database, **rules: int) -> Retention:
    queue: GradeQueue = NoQueue()  # type: ignore[assignment]
    return Retention(database, queue, RetentionRules(**rules))


def user(name: str, role: str = "student") -> UserRow:
    return UserRow(id=name.ljust(32, "0"), name=name, role=role, created_at=now() - LONG_AGO)


def attempt(number: int, kind: str, at: datetime, who: UserRow, status: str = "finished") -> AttemptRow:
    return AttemptRow(
        id=f"{number:032}",
        user_id=who.id,
        problem="p",
        version="v",
        kind=kind,
        source="x",
        status=status,
        created_at=at,
        priority=0,
        tries=0,
        finished_at=at if status == "finished" else None,
    )


async def test_old_runs_are_deleted_and_attempts_stay(each_database, monkeypatch):
    monkeypatch.setattr("app.teaching.retention._RUNS", 2)
    ada, old, new = user("ada"), now() - timedelta(days=31), now() - timedelta(days=29)
    async with each_database.writing() as session:
        session.add(ada)
        await session.flush()
        session.add_all([attempt(number, "run", old, ada) for number in range(5)])
        session.add(attempt(5, "run", new, ada))
        session.add(attempt(6, "attempt", old, ada))
        session.add(attempt(7, "run", old, ada, status="queued"))
    rule = retention(each_database, runs_kept_days=30)
    assert [await rule.step() for _ in range(4)] == [2, 2, 1, 0]
    async with each_database.reading() as session:
        assert list(await session.scalars(select(AttemptRow.id).order_by(AttemptRow.id))) == [
            f"{number:032}" for number in (5, 6, 7)
        ]
    assert await retention(each_database).step() == 0


async def test_students_are_erased_a_year_after_their_last_course(each_database):
    people = {name: user(name) for name in ("gone", "back", "sent", "token", "next", "none", "late", "assists")}
    people["tess"] = user("tess", "instructor")
    courses = {name: course_row(name) for name in ("old", "new", "bare")}
    async with each_database.writing() as session:
        session.add_all([*people.values(), *courses.values()])
        await session.flush()
        session.add_all([due("old", LONG_AGO), due("new", LATELY)])
        members = {name: ["old"] for name in people if name != "none"}
        members |= {"next": ["old", "new"], "gone": ["old", "bare"]}
        for name, within in members.items():
            for each in within:
                role = "assistant" if name == "assists" else "student"
                joined = now() - (LATELY if name == "late" else LONG_AGO)
                session.add(MemberRow(course_id=courses[each].id, user_id=people[name].id, role=role, joined_at=joined))
        session.add(attempt(1, "attempt", now() - LONG_AGO, people["gone"]))
        session.add(attempt(2, "attempt", now() - LATELY, people["sent"]))
        session.add(session_row("gone", LONG_AGO))
        session.add(session_row("back", LATELY))
        session.add(
            APITokenRow(
                token_hash="t" * 64,
                id="t" * 32,
                user_id=people["token"].id,
                name="t",
                scopes="read",
                preset=False,
                created_at=now() - LONG_AGO,
                last_used_at=now() - LATELY,
            )
        )
    rule = retention(each_database, people_kept_days=365)
    assert [await rule.step(), await rule.step()] == [1, 0]
    async with each_database.reading() as session:
        assert set(await session.scalars(select(UserRow.name))) == set(people) - {"gone"}
        [entry] = await session.scalars(select(AuditRow))
    assert (entry.action, entry.user_id, entry.whom_id, entry.reason) == (
        "erased-by-rule",
        None,
        None,
        "no course and no use for 365 days",
    )


async def test_a_course_ends_when_it_is_archived(each_database):
    ada = user("ada")
    async with each_database.writing() as session:
        course = course_row("old")
        session.add_all([ada, course])
        await session.flush()
        session.add(due("old", -LATELY))
        session.add(MemberRow(course_id=course.id, user_id=ada.id, role="student", joined_at=now() - LONG_AGO))
    rule = retention(each_database, people_kept_days=365)
    assert await rule.step() == 0
    async with each_database.writing() as session:
        (await session.get_one(CourseRow, course.id)).archived_at = now() - LONG_AGO
    assert await rule.step() == 1


def course_row(name: str) -> CourseRow:
    return CourseRow(
        id=name.ljust(32, "0"), name=name, time_zone="UTC", join_code=name, created_at=now() - 2 * LONG_AGO
    )


def due(course: str, ago: timedelta) -> AssignmentRow:
    return AssignmentRow(
        id=course.ljust(32, "a"),
        course_id=course.ljust(32, "0"),
        name="a",
        opens_at=now() - 2 * LONG_AGO,
        due_at=now() - ago,
    )


def session_row(name: str, ago: timedelta) -> SessionRow:
    return SessionRow(
        token_hash=name.ljust(64, "s"),
        id=name.ljust(32, "s"),
        user_id=name.ljust(32, "0"),
        user_agent="",
        created_at=now() - LONG_AGO,
        last_used_at=now() - ago,
        expires_at=now() + LATELY,
    )
