"""What an open exam or interview closes to a user."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NoReturn, Protocol, get_args

from app.accounts.caller import User
from app.core.errors import ExamOpen

Part = Literal["hints", "editorial", "giving_up", "solutions", "explorer"]
PARTS: tuple[Part, ...] = get_args(Part)
# What an exam closes unless its instructor chooses otherwise, and an interview always.
USUAL: frozenset[Part] = frozenset({"hints", "editorial", "giving_up", "solutions"})
PART_WORDS: dict[Part, str] = {
    "hints": "hints",
    "editorial": "editorial",
    "giving_up": "giving up",
    "solutions": "solutions",
    "explorer": "Explorer",
}


@dataclass(frozen=True, slots=True)
class OpenExam:
    """`until` is when it opens again at the latest. `name` is "exam" or "interview", and `end` says what ends it.

    `is_yours` is false for someone who does not sit the exam, but to whom it closes `parts` as well. For a student who
    sits it, `your_end` is the first moment at which what they submit is too late, and `href` the page of the exam.
    """

    until: datetime
    name: str = "exam"
    end: str = "the exam has closed for everyone"
    parts: frozenset[Part] = USUAL
    is_yours: bool = True
    your_end: datetime | None = None
    href: str = ""

    @property
    def whose(self) -> str:
        return f"your {self.name}" if self.is_yours else "an exam that is open now"

    @property
    def words(self) -> str:
        """The parts that it closes, in words."""
        return words_of(self.parts)

    def closes(self, part: Part) -> bool:
        return part in self.parts

    def refuse(self, problem: str) -> NoReturn:
        """Raises `ExamOpen`."""
        raise ExamOpen(
            f"The problem {problem!r} is part of {self.whose}. Until {self.end}, this is closed to you: {self.words}.",
            open_until=self.until.isoformat(),
        )


def words_of(parts: Collection[Part]) -> str:
    """Such as "hints, editorial and giving up"."""
    words = [PART_WORDS[each] for each in PARTS if each in parts]
    return " and ".join(each for each in (", ".join(words[:-1]), *words[-1:]) if each)


class Exams(Protocol):
    async def open(self, user: User | None, problem: str) -> OpenExam | None:
        """The open exam or interview that closes parts of the problem to this user."""
        ...

    async def without_explorer(self, user: User | None) -> OpenExam | None:
        """The open exam of the user that closes the Explorer to them, whatever they explore."""
        ...


class EveryExam:
    """The `Exams` of several rooms of the service, of which none knows another."""

    def __init__(self, *parts: Exams) -> None:
        self._parts = parts

    async def open(self, user: User | None, problem: str) -> OpenExam | None:
        return all_of([await each.open(user, problem) for each in self._parts])

    async def without_explorer(self, user: User | None) -> OpenExam | None:
        return all_of([await each.without_explorer(user) for each in self._parts])


def all_of(exams: Iterable[OpenExam | None]) -> OpenExam | None:
    """What several exams close together: the user's own, or else the first, with the parts of all until the last."""
    found = sorted((each for each in exams if each is not None), key=lambda each: not each.is_yours)
    if not found:
        return None
    parts = frozenset[Part]().union(*(each.parts for each in found))
    return replace(found[0], until=max(each.until for each in found), parts=parts)
