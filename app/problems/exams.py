"""What an open exam closes to its students: hints, editorials and solutions of its problems, and giving up."""

from datetime import datetime
from typing import Protocol

from app.accounts.caller import User
from app.core.errors import ExamOpen


class Exams(Protocol):
    async def open_until(self, user: User | None, problem: str) -> datetime | None:
        """When the exam closes for everyone, if the problem is in an open exam of one of the user's courses."""
        ...


async def refuse_in_exam(exams: Exams, user: User | None, problem: str) -> None:
    """Raises `ExamOpen`."""
    if (until := await exams.open_until(user, problem)) is not None:
        raise ExamOpen(
            f"The problem {problem!r} is part of your exam. Until the exam has closed for everyone, you cannot give up "
            f"on it, and its hints, editorial and solutions are closed to you.",
            open_until=until.isoformat(),
        )
