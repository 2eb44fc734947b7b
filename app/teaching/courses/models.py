"""Tables of courses: who is in them, and what is due when."""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Integer, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class CourseRow(Base):
    """A course belongs to no account, so it stays when the account of the person who created it is deleted."""

    __tablename__ = "courses"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    time_zone: Mapped[str] = mapped_column(String(64))
    join_code: Mapped[str] = mapped_column(String(16), unique=True)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class MemberRow(Base):
    """A member of a course. `role` is `student` or `assistant`."""

    __tablename__ = "course_members"

    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    joined_at: Mapped[datetime] = mapped_column(UTCDateTime())


class AssignmentRow(Base):
    """`late_percent` is what each day that has begun after `due_at` costs; null if nothing counts after it.

    A student may submit `attempt_limit` attempts at each problem, at least `cool_down_minutes` apart. In an exam, the
    verdicts are hidden from students until it has closed for everyone.
    """

    __tablename__ = "assignments"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    opens_at: Mapped[datetime] = mapped_column(UTCDateTime())
    due_at: Mapped[datetime] = mapped_column(UTCDateTime())
    late_percent: Mapped[int | None] = mapped_column(Integer())
    attempt_limit: Mapped[int | None] = mapped_column(Integer())
    cool_down_minutes: Mapped[int | None] = mapped_column(Integer())
    is_exam: Mapped[bool] = mapped_column(Boolean(), default=False, server_default=false())


class AssignmentProblemRow(Base):
    """A problem of an assignment, and the points that its best counted attempt is worth."""

    __tablename__ = "assignment_problems"

    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer(), primary_key=True, autoincrement=False)
    problem: Mapped[str] = mapped_column(String(64))
    points: Mapped[int] = mapped_column(Integer())


class ExtensionRow(Base):
    """What one student has beyond the others at an assignment, and why."""

    __tablename__ = "assignment_extensions"

    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    extra_minutes: Mapped[int] = mapped_column(Integer())
    extra_attempts: Mapped[int] = mapped_column(Integer())
    reason: Mapped[str] = mapped_column(String(200))


class AnnouncementRow(Base):
    """It belongs to the course, and stays, without a name, when the account of its author is deleted."""

    __tablename__ = "announcements"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    text: Mapped[str] = mapped_column(Text())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
