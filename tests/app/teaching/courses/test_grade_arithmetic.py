"""Points of a cell and percentages of a course: the numbers, worked out by hand, and what always holds."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.teaching.courses.grade_arithmetic import (
    POINT,
    Category,
    Judged,
    Marks,
    Part,
    Points,
    Rules,
    Sent,
    judge,
    points,
    shown_percent,
    shown_points,
    total,
    weigh,
)

DUE = datetime(2026, 1, 19, 23, 59, tzinfo=UTC)
OPENS = DUE - timedelta(days=7)


def rules(late_percent: int | None = 10, grace: int = 0, counted: str = "best", zone: str = "UTC") -> Rules:
    return Rules(OPENS, DUE, late_percent, zone, grace, counted)


def sent(hours: float, score: int, *, by_hand: bool = False) -> Sent:
    return Sent(DUE + timedelta(hours=hours), score, by_hand, f"{hours:+}")


def share(attempts: list[Sent], given_rules: Rules) -> Fraction | None:
    found = judge(attempts, given_rules)
    return None if found is None else Fraction(found.share, 10_000)


@pytest.mark.parametrize(
    ("counted", "expected"),
    [("best", Fraction(81, 100)), ("last", Fraction(56, 100)), ("average", Fraction(60 + 81 + 56, 300))],
)
def test_which_attempt_counts(counted, expected):
    attempts = [sent(-5, 60), sent(2, 90), sent(30, 70)]
    assert share(attempts, rules(counted=counted)) == expected


def test_each_attempt_says_why_it_counts_or_not():
    attempts = [sent(-24 * 8, 100), sent(-5, 60), sent(2, 90), sent(24 * 30, 100)]
    assert [(each.role, each.credit, each.days_late) for each in weigh(attempts, rules())] == [
        ("before-opening", 0, 0),
        ("less", 100, 0),
        ("counts", 90, 1),
        ("worth-nothing", 0, 10),
    ]
    assert [each.role for each in weigh(attempts, rules(counted="last"))][1:] == ["earlier", "counts", "worth-nothing"]
    assert [each.role for each in weigh(attempts, rules(None))][1:] == ["counts", "closed", "closed"]
    assert [each.role for each in weigh(attempts[3:], rules())] == ["counts"]
    assert share(attempts[3:], rules()) == 0


@pytest.mark.parametrize(
    ("minutes", "late_percent", "expected"),
    [(30, 10, 100), (31, 10, 90), (24 * 60, 10, 90), (24 * 60 + 1, 10, 80), (30, None, 100), (31, None, None)],
)
def test_grace_forgives_and_days_count_from_the_due_time(minutes, late_percent, expected):
    found = share([sent(minutes / 60, 100)], rules(late_percent, grace=30))
    assert (None if found is None else found * 100) == expected


def test_days_late_are_those_of_the_calendar():
    """The clocks of Berlin go back on 25 October 2026, so that day late has 25 hours."""
    due = datetime(2026, 10, 24, 21, 59, tzinfo=UTC)
    of_berlin = Rules(due - timedelta(days=7), due, 10, "Europe/Berlin")
    assert share([Sent(due + timedelta(hours=25), 100)], of_berlin) == Fraction(90, 100)
    assert share([Sent(due + timedelta(hours=25, minutes=1), 100)], of_berlin) == Fraction(80, 100)


def test_of_equal_points_one_in_time_and_unchanged_counts():
    found = judge([sent(1, 100), sent(-1, 90), sent(-2, 90, by_hand=True)], rules())
    assert found == Judged(9000, is_late=False, by_hand=False)


HALF = Judged(5000, is_late=False, by_hand=False)


@pytest.mark.parametrize(
    ("judged", "marks", "expected"),
    [
        (None, Marks(), Points(None, 50 * POINT)),
        (HALF, Marks(), Points(25 * POINT, 50 * POINT)),
        (HALF, Marks(override=40 * POINT), Points(40 * POINT, 50 * POINT)),
        (None, Marks(override=0), Points(0, 50 * POINT)),
        (HALF, Marks(rubric=(3 * POINT, 5 * POINT)), Points(28 * POINT, 55 * POINT)),
        (None, Marks(bonus=2 * POINT), Points(2 * POINT, 50 * POINT)),
        (HALF, Marks(override=50 * POINT, bonus=7 * POINT), Points(57 * POINT, 50 * POINT)),
        (HALF, Marks(override=40 * POINT, is_excused=True, bonus=7 * POINT), Points(None, 0)),
    ],
)
def test_the_points_of_a_cell(judged, marks, expected):
    assert points(50, judged, marks) == expected


def part(name: str, earned: int, possible: int, weight: int | None = None, category: str | None = None) -> Part:
    return Part(name, earned * POINT, possible * POINT, weight, category)


def test_without_weights_the_percentage_is_that_of_all_points():
    assert total([part("a", 40, 50), part("b", 0, 100), part("c", 10, 10)]).ratio == Fraction(50, 160)
    assert total([part("a", 0, 0)]).ratio is None
    assert total([]).percent is None


def test_a_bonus_goes_above_a_hundred_percent():
    assert total([part("a", 57, 50)]).percent == 114


def test_what_is_excused_is_not_dropped():
    homework = [Category("Homework", 1, drop_lowest=1)]
    parts = [part("a", 0, 0, None, "Homework"), part("b", 5, 10, None, "Homework"), part("c", 9, 10, None, "Homework")]
    found = total(parts, homework)
    assert (found.percent, found.dropped) == (90, {"b"})
    assert total(parts[:2], homework).dropped == frozenset()


def test_of_equal_ones_the_heavier_is_dropped():
    homework = [Category("Homework", 1, drop_lowest=1)]
    parts = [part("a", 5, 10, 1, "Homework"), part("b", 5, 10, 3, "Homework"), part("c", 10, 10, 1, "Homework")]
    found = total(parts, homework)
    assert (found.percent, found.dropped) == (75, {"b"})


def test_a_category_in_which_nothing_counts_leaves_its_weight_to_the_others():
    categories = [Category("Homework", 40), Category("Exams", 60)]
    assert total([part("a", 8, 10, None, "Homework")], categories).percent == 80
    assert total([part("a", 8, 10, None, "Homework"), part("b", 5, 10)], categories).percent == 80
    assert total([part("a", 8, 10, 0, "Homework")], categories).ratio is None


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(0, 0), (49, 0), (50, 0.01), (12_350, 1.24), (Fraction(POINT, 3), 0.33), (Fraction(2 * POINT, 3), 0.67)],
)
def test_points_are_rounded_half_up(amount, expected):
    assert shown_points(amount) == expected


def test_percentages_are_rounded_half_up():
    assert shown_percent(Fraction(2, 3)) == 66.67
    assert shown_percent(Fraction(12345, 100_000)) == 12.35


ATTEMPTS = st.lists(st.builds(sent, st.integers(-24 * 9, 24 * 20), st.integers(0, 100)), max_size=8)


@given(ATTEMPTS, st.sampled_from([None, 1, 10, 34, 100]), st.integers(0, 2000))
def test_no_rule_gives_more_than_the_best_attempt(attempts, late_percent, grace):
    best, last, average = (judge(attempts, rules(late_percent, grace, rule)) for rule in ("best", "last", "average"))
    assert (best is None) == (last is None) == (average is None)
    if best and last and average:
        assert 0 <= last.share <= best.share <= 10_000
        assert average.share <= best.share
        without = judge(attempts, rules(late_percent))
        assert without is None or best.share >= without.share


PARTS = st.lists(
    st.builds(Part, st.text("ab", max_size=3), st.integers(0, 100), st.integers(0, 100), st.none() | st.integers(0, 9)),
    max_size=6,
)


@given(PARTS, st.integers(0, 3))
def test_dropping_the_lowest_never_lowers_a_category(parts, drop):
    parts = [Part(each.id, each.earned, each.possible, each.weight, "all") for each in parts]
    plain, dropped = (total(parts, [Category("all", 1, count)]).ratio for count in (0, drop))
    assert (plain is None) == (dropped is None)
    if plain is not None:
        assert dropped >= plain
