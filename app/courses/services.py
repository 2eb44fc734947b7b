"""What the routes for courses need."""

from dataclasses import dataclass

from app.courses.announcements import Announcements
from app.courses.assignments import AssignmentChanges
from app.courses.extensions import Extensions
from app.courses.roster import Rosters
from app.courses.service import Courses
from app.problems.services import ProblemServices


@dataclass(frozen=True, kw_only=True)
class CourseServices(ProblemServices):
    courses: Courses
    assignments: AssignmentChanges
    announcements: Announcements
    extensions: Extensions
    rosters: Rosters
