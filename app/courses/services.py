"""What the routes for courses need."""

from dataclasses import dataclass

from app.courses.service import Courses
from app.problems.services import ProblemServices


@dataclass(frozen=True, kw_only=True)
class CourseServices(ProblemServices):
    courses: Courses
