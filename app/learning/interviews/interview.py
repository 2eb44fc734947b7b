"""An interview: three problems, one after the other, each with 25 minutes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from app.problems.tracks import Section
from grader.package.package import Package

Level = Literal["easy", "medium", "hard", "mixed"]
LEVELS: tuple[Level, ...] = get_args(Level)
_DIFFICULTIES = ("easy", "medium", "hard")
PROBLEMS = 3
TIME = timedelta(minutes=25)
# From the start of a problem until the interview is over even if nobody goes on: there is time to rest in between.
LONGEST = timedelta(hours=2)
PlaceState = Literal["waiting", "running", "over"]


class Place(BaseModel):
    """One problem of an interview. Its 25 minutes begin when the candidate reaches it."""

    model_config = ConfigDict(frozen=True)

    slug: str
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def due_at(self) -> datetime | None:
        """When its time is over at the latest; None before it has begun."""
        return None if self.started_at is None else self.started_at + TIME

    @property
    def closed_at(self) -> datetime | None:
        """Up to when an attempt counts; None before it has begun."""
        return None if self.due_at is None else min(self.ended_at or self.due_at, self.due_at)

    def state(self, moment: datetime) -> PlaceState:
        if self.closed_at is None:
            return "waiting"
        return "running" if moment < self.closed_at else "over"


@dataclass(frozen=True, slots=True)
class Interview:
    id: str
    level: Level
    places: tuple[Place, ...]
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None

    def is_over(self, moment: datetime) -> bool:
        return self.ended_at is not None or self.expires_at <= moment

    @property
    def at(self) -> int:
        """The number of the problem that began last, from 1."""
        return sum(each.started_at is not None for each in self.places)

    @property
    def current(self) -> Place:
        return self.places[self.at - 1]

    def next(self, moment: datetime) -> tuple[Place, ...] | None:
        """Its places once the current problem has ended and the next one has begun; None after the last one."""
        ended = self._with(self.at - 1, ended_at=self.current.ended_at or moment)
        if self.at == len(self.places):
            return None
        following = self.places[self.at].model_copy(update={"started_at": moment})
        return (*ended[: self.at], following, *ended[self.at + 1 :])

    def stopped(self, moment: datetime) -> tuple[Place, ...]:
        """Its places once the current problem has ended."""
        return self._with(self.at - 1, ended_at=self.current.ended_at or moment)

    def _with(self, index: int, **changes: datetime) -> tuple[Place, ...]:
        changed = self.places[index].model_copy(update=changes)
        return (*self.places[:index], changed, *self.places[index + 1 :])


def draw_problems(
    sections: Sequence[Section], level: Level, solved: Collection[str], chance: Random
) -> tuple[Package, ...]:
    """Three problems of this level, or all if there are fewer; of `mixed`, one of each difficulty, the easy one first.

    Problems that are not solved come first, and then problems of different tracks.
    """
    if level == "mixed":
        drawn: list[Package] = []
        for each in _DIFFICULTIES:
            drawn += _draw(sections, each, solved, chance, 1)
        return tuple(drawn)
    return tuple(_draw(sections, level, solved, chance, PROBLEMS))


def _draw(
    sections: Sequence[Section], difficulty: str, solved: Collection[str], chance: Random, count: int
) -> list[Package]:
    found = [
        (package, section.id)
        for section in sections
        for package in section.packages
        if package.manifest.difficulty == difficulty
    ]
    chance.shuffle(found)
    times: dict[str, int] = {}
    ranked = []
    for package, track in sorted(found, key=lambda each: each[0].slug in solved):
        ranked.append((package.slug in solved, times.get(track, 0), package))
        times[track] = times.get(track, 0) + 1
    return [package for _, _, package in sorted(ranked, key=lambda each: each[:2])[:count]]
