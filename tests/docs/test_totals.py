"""The example of how a total is computed has the numbers that the service computes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.teaching.courses.grade_arithmetic import (
    POINT,
    Category,
    Marks,
    Part,
    Points,
    Rules,
    Sent,
    judge,
    points,
    shown_points,
    total,
)

DUE = datetime(2026, 1, 19, 23, 59, tzinfo=UTC)
NOTHING = Marks()
GUIDE = " ".join(Path("docs/accounts.md").read_text(encoding="utf-8").split())


def cell(worth: int, *scores: tuple[float, int], counted: str = "best", marks: Marks = NOTHING) -> Points:
    """`scores` are hours after the deadline, and the score."""
    sent = [Sent(DUE + timedelta(hours=hours), score) for hours, score in scores]
    return points(worth, judge(sent, Rules(DUE - timedelta(days=7), DUE, 10, "UTC", 0, counted)), marks)


def part(name: str, category: str, *cells: Points) -> Part:
    return Part(name, sum(each.earned or 0 for each in cells), sum(each.possible for each in cells), None, category)


PARTS = [
    part("Homework 1", "Homework", cell(50, (-1, 60), (20, 90))),
    part("Homework 2", "Homework", cell(50, (-2, 100), (-1, 70), counted="average", marks=Marks(bonus=5 * POINT))),
    part("Homework 3", "Homework", cell(50, marks=Marks(is_excused=True)), cell(50)),
    part("Exam", "Exams", cell(100, (-1, 70), marks=Marks(rubric=(8 * POINT, 10 * POINT)))),
]


def test_the_example_has_the_numbers_of_the_service():
    for each in PARTS:
        row = GUIDE.split(f"| {each.id}, ")[1].split("| |")[0] if each.id != "Exam" else GUIDE.split("| Exam, ")[1]
        [_, _, reached, percent, *_] = [column.strip() for column in row.split("|")]
        assert reached == f"{shown_points(each.earned):g} of {shown_points(each.possible):g}"
        assert percent == f"{total([each], [Category(each.category or '', 1)]).percent:g}"
    found = total(PARTS, [Category("Homework", 40, 1), Category("Exams", 60)])
    homework = found.categories[0]
    assert homework.dropped == {"Homework 3"}
    assert f"Homework is 88 of 100 points, {homework.percent:g} %." in GUIDE
    assert f"/ 100 = {found.percent:g} %." in GUIDE
    earned, possible = (
        shown_points(sum(each)) for each in zip(*((it.earned, it.possible) for it in PARTS), strict=True)
    )
    assert f"The points are {earned:g} of {possible:g}." in GUIDE
