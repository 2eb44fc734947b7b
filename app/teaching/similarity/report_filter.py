"""Which pairs and groups of a similarity report a reader asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.teaching.similarity.compare import FROM

LEAST_PERCENT = round(FROM * 100)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """`percent` is the lowest share of a pair. `student` is a part of a name; an empty one asks for everybody."""

    percent: int = LEAST_PERCENT
    student: str = ""

    @property
    def is_empty(self) -> bool:
        return self == EVERYTHING

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
    return Narrowing(int(percent) if is_percent else LEAST_PERCENT, query.get("q", "").strip()[:100])
