"""How points and percentages are computed. All of it is exact, and reads neither the database nor the clock.

Points are counted in ten-thousandths, which are whole numbers: a score and the credit of a late attempt are each a
percentage. Only an average is a fraction. Nothing is rounded before it is shown: `shown_points` and `shown_percent`
round to two decimals, half up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Literal, get_args

from app.teaching.courses.due_dates import credit, days_late, is_over

# Which of the attempts at a problem count.
Rule = Literal["best", "last", "average"]
RULES: tuple[Rule, ...] = get_args(Rule)
Amount = int | Fraction
POINT = 10_000
# What an attempt is to its cell.
Role = Literal["counts", "before-opening", "closed", "worth-nothing", "less", "earlier"]


@dataclass(frozen=True, slots=True)
class Sent:
    """An attempt. `score` is 0 to 100, and `by_hand` says that it is not the verdict's."""

    at: datetime
    score: int
    by_hand: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for one student at one assignment: `opens_at` and `due_at` are theirs."""

    opens_at: datetime
    due_at: datetime
    late_percent: int | None
    zone: str
    grace_minutes: int = 0
    counted: Rule = "best"

    def is_late(self, at: datetime) -> bool:
        return is_over(self.due_at + timedelta(minutes=self.grace_minutes), at)


@dataclass(frozen=True, slots=True)
class Weighed:
    """An attempt, the percentage of its score that it earns, and whether it counts; if not, why."""

    sent: Sent
    is_late: bool
    days_late: int
    credit: int
    role: Role

    @property
    def share(self) -> int:
        """Of the points of the problem, in ten-thousandths."""
        return self.sent.score * self.credit


@dataclass(frozen=True, slots=True)
class Judged:
    """What a student's attempts earn: a `share` of the points of the problem, in ten-thousandths."""

    share: Amount
    is_late: bool
    by_hand: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """What was given by hand to a cell. `rubric` is the points and the most that there are."""

    override: Amount | None = None
    is_excused: bool = False
    rubric: tuple[Amount, Amount] | None = None
    bonus: Amount | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """`earned` is None if nothing was submitted or given, and `possible` is 0 if the cell does not count."""

    earned: Amount | None
    possible: Amount


@dataclass(frozen=True, slots=True)
class Category:
    """Assignments that share `weight` of the total. The `drop_lowest` worst of them do not count."""

    name: str
    weight: int
    drop_lowest: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """What a student has at one assignment. Without a `weight`, it weighs as much as its possible points."""

    id: str
    earned: Amount
    possible: Amount
    weight: int | None = None
    category: str | None = None

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.earned) / self.possible

    @property
    def weighs(self) -> Amount:
        return self.possible if self.weight is None else self.weight * POINT


@dataclass(frozen=True, slots=True)
class CategoryTotal:
    """`name` is None if the course has no categories. `dropped` are ids of assignments."""

    name: str | None
    weight: int
    ratio: Fraction
    dropped: frozenset[str] = frozenset()

    @property
    def percent(self) -> float:
        return shown_percent(self.ratio)


@dataclass(frozen=True, slots=True)
class Total:
    """`ratio` is None as long as nothing counts. A bonus can raise it above 1."""

    ratio: Fraction | None
    categories: tuple[CategoryTotal, ...] = ()

    @property
    def percent(self) -> float | None:
        return None if self.ratio is None else shown_percent(self.ratio)

    @property
    def dropped(self) -> frozenset[str]:
        return frozenset[str]().union(*(each.dropped for each in self.categories))


def weigh(attempts: Sequence[Sent], rules: Rules) -> list[Weighed]:
    """Each attempt, in the order in which they were sent, and whether it counts.

    An attempt that lateness makes worth nothing counts only if there is no other.
    """
    ordered = sorted(attempts, key=lambda each: (each.at, each.id))
    found = [_weighed(each, rules) for each in ordered]
    usable = [each for each in found if each.role == "counts" and each.credit > 0]
    usable = usable or [each for each in found if each.role == "counts"]
    chosen = _chosen(usable, rules.counted)
    return [_with_role(each, usable, chosen, rules.counted) for each in found]


def judge(attempts: Sequence[Sent], rules: Rules) -> Judged | None:
    """What the attempts that count earn; None if none does."""
    counting = [each for each in weigh(attempts, rules) if each.role == "counts"]
    if not counting:
        return None
    total = sum(each.share for each in counting)
    return Judged(
        share=total if len(counting) == 1 else Fraction(total, len(counting)),
        is_late=any(each.is_late for each in counting),
        by_hand=any(each.sent.by_hand for each in counting),
    )


def points(worth: int, judged: Judged | None, marks: Marks = Marks()) -> Points:
    """The points of a cell whose problem is worth so many.

    An override replaces what the attempts earn. Rubric points are added to it, and the most of them to what is
    possible. A bonus is added without being possible. An excused cell has none of this.
    """
    if marks.is_excused:
        return Points(None, 0)
    possible: Amount = worth * POINT + (marks.rubric[1] if marks.rubric else 0)
    first = marks.override if marks.override is not None else None if judged is None else worth * judged.share
    amounts = [each for each in (first, marks.rubric[0] if marks.rubric else None, marks.bonus) if each is not None]
    return Points(sum(amounts) if amounts else None, possible)


def total(parts: Sequence[Part], categories: Sequence[Category] = ()) -> Total:
    """The weighted mean of the categories of those assignments at which something is possible.

    Without categories, all assignments are one. With them, an assignment that is in none does not count.
    """
    counting = [each for each in parts if each.possible and each.weighs]
    if not categories:
        groups = [_category(None, 1, 0, counting)]
    else:
        groups = [
            _category(each.name, each.weight, each.drop_lowest, [it for it in counting if it.category == each.name])
            for each in categories
        ]
    found = [each for each in groups if each is not None]
    weight = sum(each.weight for each in found)
    if not weight:
        return Total(None, tuple(found))
    return Total(sum((each.weight * each.ratio for each in found), Fraction()) / weight, tuple(found))


def shown_points(amount: Amount) -> float:
    return (amount + POINT // 200) // (POINT // 100) / 100


def shown_percent(ratio: Fraction) -> float:
    return (ratio * 10_000 + Fraction(1, 2)) // 1 / 100


def _weighed(sent: Sent, rules: Rules) -> Weighed:
    if sent.at < rules.opens_at:
        return Weighed(sent, False, 0, 0, "before-opening")
    is_late = rules.is_late(sent.at)
    earns = credit(sent.at, rules.due_at, rules.late_percent, rules.zone, rules.grace_minutes)
    if is_late and rules.late_percent is None:
        return Weighed(sent, True, 0, 0, "closed")
    days = days_late(sent.at, rules.due_at, rules.late_percent, rules.zone) if is_late and rules.late_percent else 0
    return Weighed(sent, is_late, days, earns, "counts")


def _chosen(usable: Sequence[Weighed], rule: Rule) -> Sequence[Weighed]:
    """Of several with equal points, one in time counts, then one that nobody changed by hand, then the first."""
    if not usable or rule == "average":
        return usable
    if rule == "last":
        return usable[-1:]
    return [max(usable, key=lambda each: (each.share, not each.is_late, not each.sent.by_hand))]


def _with_role(each: Weighed, usable: Sequence[Weighed], chosen: Sequence[Weighed], rule: Rule) -> Weighed:
    if each.role != "counts" or any(each is one for one in chosen):
        return each
    why: Role = "worth-nothing"
    if any(each is one for one in usable):
        why = "earlier" if rule == "last" else "less"
    return Weighed(each.sent, each.is_late, each.days_late, each.credit, why)


def _category(name: str | None, weight: int, drop: int, parts: Sequence[Part]) -> CategoryTotal | None:
    """None if nothing in it counts. One assignment always remains."""
    if not parts:
        return None
    # Of equal ones, the heavier is dropped, which is never worse for the student.
    worst_first = sorted(parts, key=lambda each: (each.ratio, -each.weighs, each.id))
    dropped = min(drop, len(parts) - 1)
    rest = worst_first[dropped:]
    ratio = sum((each.weighs * each.ratio for each in rest), Fraction()) / sum(each.weighs for each in rest)
    return CategoryTotal(name, weight, ratio, frozenset(each.id for each in worst_first[:dropped]))
