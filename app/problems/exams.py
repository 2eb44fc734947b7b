"""What an open exam closes to its students: hints, editorial and solutions of its problems, and giving them up."""

from datetime import datetime
from typing import Protocol

from app.accounts.caller import User
from app.errors import ExamOpen


class Exams(Protocol):
    async def open_until(self, user: User | None, problem: str) -> datetime | None:
        """When the exam closes for everyone, if the user is a student of a course in whose open exam the problem is."""
        ...


async def refuse_in_exam(exams: Exams, user: User | None, problem: str) -> None:
    """Raises `ExamOpen`."""
    if (until := await exams.open_until(user, problem)) is not None:
        raise ExamOpen(
            f"The problem {problem!r} is part of an exam of yours. Until the exam has closed for everyone, you cannot "
            "give the problem up, and its hints, editorial and solutions are closed to you.",
            open_until=until.isoformat(),
        )
