"""Tables of courses: who is in them, and what is due when."""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime
from app.core.outbox import OutboxRow


class CourseRow(Base):
    """A course belongs to no account, so it stays when the account of the person who created it is deleted.

    Since `archived_at`, nothing counts in it any more. It is null while the course runs.
    """

    __tablename__ = "courses"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    time_zone: Mapped[str] = mapped_column(String(64))
    join_code: Mapped[str] = mapped_column(String(16), unique=True)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    archived_at: Mapped[datetime | None] = mapped_column(UTCDateTime())


class StaffRow(Base):
    """Someone who teaches a course. `role` is `instructor`. A course without staff is open to all instructors."""

    __tablename__ = "course_staff"

    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    added_at: Mapped[datetime] = mapped_column(UTCDateTime())


class MemberRow(Base):
    """A member of a course. `role` is `student` or `assistant`.

    `rights` are those of an assistant, separated by commas (app/teaching/courses/rights.py); null for the usual ones.
    """

    __tablename__ = "course_members"

    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    joined_at: Mapped[datetime] = mapped_column(UTCDateTime())
    rights: Mapped[str | None] = mapped_column(String(200))


class RosterLineRow(OutboxRow, Base):
    """Who a person of a course is, by a roster that staff imported or by a learning platform.

    A member is a roster line first and an account later: `user_id` is null until the invitation is used or a launch
    arrives. Nothing in it was typed by a student. An empty text is unknown. `external_id` is the platform's own id of
    the person. The delivery is the mail with the invitation, whose link begins with `site`.
    """

    __tablename__ = "roster_lines"
    __table_args__ = (
        UniqueConstraint("course_id", "user_id", name="uq_roster_lines_course_id_user_id"),
        Index("ix_roster_lines_next_try_at", "next_try_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    # A person who is erased must not stay by name in a roster.
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    invitation_id: Mapped[str | None] = mapped_column(ForeignKey("invitations.id", ondelete="SET NULL"), index=True)
    role: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(200))
    given_name: Mapped[str] = mapped_column(String(100), default="")
    family_name: Mapped[str] = mapped_column(String(100), default="")
    email: Mapped[str] = mapped_column(String(200), default="", index=True)
    student_number: Mapped[str] = mapped_column(String(100), default="", index=True)
    login: Mapped[str] = mapped_column(String(100), default="")
    external_id: Mapped[str] = mapped_column(String(100), default="")
    section: Mapped[str] = mapped_column(String(200), default="")
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    site: Mapped[str | None] = mapped_column(String(200))
    tries: Mapped[int] = mapped_column(Integer(), default=0)


class AssignmentRow(Base):
    """`late_percent` is what each day that has begun after `due_at` costs; null if nothing counts after it.

    A student may submit `attempt_limit` attempts at each problem, at least `cool_down_minutes` apart. In an exam, the
    verdicts are hidden from students until it has closed for everyone.

    Which attempts `counted` says, how long after `due_at` nothing is deducted, and what the assignment weighs within
    its `category`: app/teaching/courses/grade_arithmetic.py.

    `closes` names the parts that an exam closes, separated by commas; null for the usual ones. `closed_for` is
    `everyone`, or null for its students. With `duration_minutes`, a `password_hash` or `addresses` (networks, separated
    by spaces), a student has to start the exam.
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
    counted: Mapped[str] = mapped_column(String(16), default="best", server_default="best")
    grace_minutes: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    weight: Mapped[int | None] = mapped_column(Integer())
    category: Mapped[str | None] = mapped_column(String(60))
    closes: Mapped[str | None] = mapped_column(String(100))
    closed_for: Mapped[str | None] = mapped_column(String(16))
    duration_minutes: Mapped[int | None] = mapped_column(Integer())
    password_hash: Mapped[str | None] = mapped_column(String(200))
    addresses: Mapped[str | None] = mapped_column(Text())


class AssignmentProblemRow(Base):
    """A problem of an assignment, and the points that its best counted attempt is worth.

    Of the problems with the same `pool`, each student gets one.
    """

    __tablename__ = "assignment_problems"

    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer(), primary_key=True, autoincrement=False)
    problem: Mapped[str] = mapped_column(String(64), index=True)
    points: Mapped[int] = mapped_column(Integer())
    pool: Mapped[int | None] = mapped_column(Integer())


class ExamStartRow(Base):
    """When a student started an exam, which opens its private problems to them and begins their time."""

    __tablename__ = "exam_starts"

    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    started_at: Mapped[datetime] = mapped_column(UTCDateTime())


class CategoryRow(Base):
    """A category of a course. Its assignments have its name."""

    __tablename__ = "course_categories"

    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer(), primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(60))
    weight: Mapped[int] = mapped_column(Integer())
    drop_lowest: Mapped[int] = mapped_column(Integer())


class SectionDatesRow(Base):
    """The times of an assignment for the students of one section of its course."""

    __tablename__ = "assignment_sections"

    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    section: Mapped[str] = mapped_column(String(200), primary_key=True)
    opens_at: Mapped[datetime] = mapped_column(UTCDateTime())
    due_at: Mapped[datetime] = mapped_column(UTCDateTime())


class MarkRow(Base):
    """What `user_id` gave by hand to a cell of the gradebook: the student `whom_id` at a problem of an assignment.

    `kind` is `override`, `excused`, `rubric` or `bonus`. Points are in hundredths; `most_hundredths` is the maximum of
    a rubric. `reason` is the comment of a rubric, and the student reads it if `is_shown`. It is deleted with the
    student and with the assignment, and remains, without the name, when the account of its author is deleted.
    """

    __tablename__ = "cell_marks"

    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64), primary_key=True)
    whom_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    hundredths: Mapped[int] = mapped_column(Integer())
    most_hundredths: Mapped[int | None] = mapped_column(Integer())
    reason: Mapped[str] = mapped_column(String(200))
    is_shown: Mapped[bool] = mapped_column(Boolean())
    at: Mapped[datetime] = mapped_column(UTCDateTime())


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
