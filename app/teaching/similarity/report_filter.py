"""Which attempts a similarity report compares, and which pairs and groups of it a reader asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.teaching.similarity.compare import FROM
from app.teaching.similarity.submissions import CHOICES, Choice

LEAST_PERCENT = round(FROM * 100)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """`percent` is the lowest share of a pair. `student` is a part of a name; an empty one asks for everybody."""

    percent: int = LEAST_PERCENT
    student: str = ""
    attempts: Choice = "best"

    @property
    def is_empty(self) -> bool:
        return self == EVERYTHING

    def address(self) -> dict[str, str]:
        """The parameters of an address that `read_narrowing` reads as this one."""
        percent = "" if self.percent == LEAST_PERCENT else str(self.percent)
        attempts = "" if self.attempts == EVERYTHING.attempts else self.attempts
        named = {"attempts": attempts, "share": percent, "q": self.student}
        return {name: value for name, value in named.items() if value}

    def has_share(self, share: float) -> bool:
        """As a page writes it, in whole percent."""
        return round(share * 100) >= self.percent

    def has_any_of(self, names: Sequence[str]) -> bool:
        return any(self.student.casefold() in name.casefold() for name in names)


EVERYTHING = Narrowing()


def read_narrowing(query: Mapping[str, str]) -> Narrowing:
    """A value that the page does not offer is dropped."""
    percent = query.get("share", "").strip()
    is_percent = percent.isascii() and percent.isdecimal() and LEAST_PERCENT <= int(percent[:4]) <= 100
    attempts: Choice = next((each for each in CHOICES if each == query.get("attempts")), EVERYTHING.attempts)
    return Narrowing(int(percent) if is_percent else LEAST_PERCENT, query.get("q", "").strip()[:100], attempts)
