"""Why a lesson is not shown."""

from app.errors import Refused
from grader.errors import MeshgradeError


class LessonNotFound(Refused):
    status, slug, title = 404, "lesson-not-found", "There is no such lesson"


class LessonInvalid(MeshgradeError):
    """A lesson, or their order, cannot be used. The message lists every fault, one a line."""

    def __init__(self, where: str, faults: list[str]) -> None:
        super().__init__(f"{where} cannot be used:\n" + "\n".join(f"  - {fault}" for fault in faults))
        self.faults = faults
