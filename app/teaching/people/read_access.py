"""Who may read whose attempts: an instructor those of students, an owner those of all accounts.

An assistant of a course reads those of its students, at the problems of its assignments. If an exam of another course
withholds a verdict, they do not see it. Nobody else reads others'.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from app.accounts.caller import User
from app.accounts.roles import is_at_least
from app.accounts.web import Grader
from app.core.errors import AttemptNotFound, RoleMissing
from app.core.services import Provided
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.withheld_verdicts import ALL_EXAMS, SeenExams
from app.teaching.people.assistance import Assistance
from app.teaching.people.directory import Directory, Person


def may_read(reader: User, person: Person) -> bool:
    return reader.role == "owner" or (reader.role == "instructor" and person.role == "student")


@dataclass(frozen=True, slots=True)
class Reach:
    """A person, and their user, whose attempts a reader may read: at all problems if `problems` is None.

    `seen` are the exams whose verdicts the reader sees before they close.
    """

    person: Person
    owner: User
    problems: frozenset[str] | None = None
    seen: SeenExams = ALL_EXAMS

    def require(self, problem: str) -> None:
        """Raises `RoleMissing` if the reader may read nothing at this problem."""
        if self.problems is not None and problem not in self.problems:
            raise RoleMissing("An assistant can read attempts only at the problems of the course's assignments.")


async def reach(
    person_id: str, reader: Grader, directory: Provided[Directory], assistance: Provided[Assistance]
) -> Reach:
    """A dependency: what the caller may read of the person in the path.

    Raises:
      PersonNotFound.
      RoleMissing: nothing. Without that role, a reader does not learn whether the person exists.
    """
    if is_at_least(reader.role, "instructor"):
        return Reach(*await readable(directory, reader, person_id))
    problems = await assistance.problems_of(reader, person_id)
    if not problems:
        raise RoleMissing("Only instructors, and assistants of this person's courses, can read their attempts.")
    person = await directory.get(person_id)
    return Reach(person, User(person.id, person.name, person.role), problems, await assistance.exams_of(reader))


async def readable(directory: Directory, reader: User, person_id: str) -> tuple[Person, User]:
    """The person, and their user, whose attempts `reader` may read.

    Raises:
      PersonNotFound.
      RoleMissing: this reader may not.
    """
    person = await directory.get(person_id)
    if not may_read(reader, person):
        raise RoleMissing(
            "An instructor can read the attempts of students, and an owner those of all accounts. "
            f"{person.name} has the role {person.role}, and you have {reader.role}."
        )
    return person, User(person.id, person.name, person.role)


PersonsReach = Annotated[Reach, Depends(reach)]


async def attempt_of(attempt_id: str, may: PersonsReach, attempts: Provided[Attempts]) -> tuple[Person, AttemptJSON]:
    """A dependency: the person and the attempt in the path. Put it before a body, which is then read only for those who
    may read the attempt. Raises as `reach` does, and `AttemptNotFound`.
    """
    try:
        attempt = await attempts.get(may.owner, attempt_id, placed=False, seen=may.seen)
    except AttemptNotFound:
        raise AttemptNotFound(f"{may.person.name} has no attempt with the id {attempt_id[:64]!r}.") from None
    may.require(attempt.problem)
    return may.person, attempt


PersonsAttempt = Annotated[tuple[Person, AttemptJSON], Depends(attempt_of)]
