"""Which phase an assignment is in at a moment, for everyone in a course or for one student."""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from app.teaching.courses.due_dates import closes_at, is_over
from app.teaching.courses.service import Assignment, Course
from app.teaching.courses.student_dates import StudentDates

# `late`: it is past due, and late work still counts. `extended`: it is closed, except for a section or an extension.
Phase = Literal["planned", "open", "late", "extended", "closed"]
# The order on the page of a course: what can be worked on comes first.
ORDER: tuple[Phase, ...] = ("open", "late", "extended", "planned", "closed")


def phase_of(course: Course, assignment: Assignment, due_at: datetime, moment: datetime) -> Phase:
    """By the assignment's opening and this due time. Nothing is open in an archived course."""
    if course.archived_at is not None:
        return "closed"
    if assignment.opens_at > moment:
        return "planned"
    if not is_over(due_at, moment):
        return "open"
    last = closes_at(due_at, assignment.late_percent, course.time_zone, assignment.grace_minutes)
    return "closed" if is_over(last, moment) else "late"


def phase_for_staff(course: Course, assignment: Assignment, dates: StudentDates, moment: datetime) -> Phase:
    """It has opened once it has for one section, and is `extended` while it is open only by other dates."""
    opens_at, last_due = dates.span(assignment)
    earliest = replace(assignment, opens_at=opens_at)
    phase = phase_of(course, earliest, assignment.due_at, moment)
    if phase == "closed" and phase_of(course, earliest, last_due, moment) != "closed":
        return "extended"
    return phase
