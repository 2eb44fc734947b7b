"""How a course did at one assignment: how many points its students have, and which of them have not started."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean, median

from app.teaching.courses.gradebook import Column, Line

# The lower ends of the parts of a distribution, in percent of the points. The last one is all of them.
_PARTS = (0, 25, 50, 75, 100)


@dataclass(frozen=True, slots=True)
class Part:
    """How many of those who submitted reached `label`."""

    label: str
    students: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """One problem, or all of them together. `median` and `mean` are of those who submitted; None if nobody has."""

    problem: str | None
    points: int
    submitted: int
    median: float | None
    mean: float | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class AssignmentStatistics:
    students: int
    total: Distribution
    problems: tuple[Distribution, ...]
    not_started: tuple[Line, ...]


def statistics_of(columns: Sequence[Column], lines: Sequence[Line]) -> AssignmentStatistics:
    """`lines` are all students of the course, with `columns`, those of the assignment. Excused cells do not count."""
    started = [each for each in lines if any(cell.points is not None for cell in each.cells)]
    excused = [each for each in lines if all(cell.is_excused for cell in each.cells)]
    by_problem = (
        _distribution(
            column.problem,
            column.points,
            [(points, cell.possible) for line in lines if (points := (cell := line.cells[place]).points) is not None],
        )
        for place, column in enumerate(columns)
    )
    return AssignmentStatistics(
        students=len(lines),
        total=_distribution(
            None, sum(each.points for each in columns), [(each.total, each.possible) for each in started]
        ),
        problems=tuple(by_problem),
        not_started=tuple(each for each in lines if each not in started and each not in excused),
    )


def _distribution(problem: str | None, points: int, found: Sequence[tuple[float, float]]) -> Distribution:
    """`found` are the points of students, and what was possible for each."""
    reached = [each for each, _ in found]
    # A problem that is worth nothing is either done or not.
    percents = [100 * each / possible if possible else 100.0 for each, possible in found]
    parts = []
    for place, low in enumerate(_PARTS):
        is_last = low == 100
        # A bonus can give more than all points.
        high = inf if is_last else _PARTS[place + 1]
        label = "all points" if is_last else f"{low} to below {high}%"
        parts.append(Part(label, sum(low <= each < high for each in percents)))
    return Distribution(
        problem,
        points,
        len(reached),
        round(median(reached), 2) if reached else None,
        round(fmean(reached), 2) if reached else None,
        tuple(parts),
    )
