"""Which attempts of others an assistant may read, as their courses define."""

from typing import Protocol

from app.accounts.caller import User
from app.grading.queue.withheld_verdicts import SeenExams


class Assistance(Protocol):
    """What courses let their assistants read: app/teaching/courses/assistant_access.py."""

    async def problems_of(self, reader: User, person_id: str) -> frozenset[str]:
        """The problems at which `reader` assists this person; none if they do not."""
        ...

    async def exams_of(self, reader: User) -> SeenExams:
        """The exams of the courses that `reader` assists, whose verdicts they see before these close."""
        ...
