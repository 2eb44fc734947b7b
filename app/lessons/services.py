"""What the routes for lessons need."""

from dataclasses import dataclass

from app.lessons.reading import Lessons
from app.lessons.runs import LessonRuns
from app.problems.services import ProblemServices


@dataclass(frozen=True, kw_only=True)
class LessonServices(ProblemServices):
    lessons: Lessons
    lesson_runs: LessonRuns
