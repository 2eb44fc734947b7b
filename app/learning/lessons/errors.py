"""Why a lesson is not shown."""

from app.core.errors import Refused
from grader.core.errors import MeshgradeError


class LessonNotFound(Refused):
    status, slug, title = 404, "lesson-not-found", "There is no such lesson"


class LessonProgramNotFound(Refused):
    status, slug, title = 404, "lesson-program-not-found", "The lesson has no such program"


class LessonRunNotFound(Refused):
    status, slug, title = 404, "lesson-run-not-found", "There is no such run of a lesson's program"


class TooManyLessonRuns(Refused):
    status, slug, title = 429, "too-many-lesson-runs", "Another of your programs is running"


class LessonInvalid(MeshgradeError):
    """A lesson, or their order, cannot be used. The message lists every fault, one a line."""

    def __init__(self, where: str, faults: list[str]) -> None:
        super().__init__(f"{where} cannot be used:\n" + "\n".join(f"  - {fault}" for fault in faults))
        self.faults = faults
