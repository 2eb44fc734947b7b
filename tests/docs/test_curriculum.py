"""docs/curriculum.md leads to every problem, lesson and calculator, and to nothing else."""

import re

from app.learning.calculators.tables import CALCULATORS
from tests.docs.pages import CHECKOUT

PAGE = (CHECKOUT / "docs" / "curriculum.md").read_text(encoding="utf-8")
QUESTION = re.compile(r"\[([\w-]+), question (\d+)\]\(\.\./lessons/([\w-]+)/lesson\.md#check-yourself\)")


def test_every_problem_is_the_place_of_a_topic() -> None:
    linked = re.findall(r"\[(\w+)\]\(\.\./problems/(\w+)/statement\.md\)", PAGE)
    assert all(name == slug for name, slug in linked)
    assert {slug for _, slug in linked} == {path.parent.name for path in CHECKOUT.glob("problems/*/problem.toml")}


def test_every_lesson_is_linked() -> None:
    linked = re.findall(r"\[([\w-]+)\]\(\.\./lessons/([\w-]+)/lesson\.md\)", PAGE)
    assert all(name == slug for name, slug in linked)
    assert {slug for _, slug in linked} == {path.parent.name for path in CHECKOUT.glob("lessons/*/lesson.md")}


def test_every_calculator_is_the_place_of_a_topic() -> None:
    assert set(re.findall(r"`/calculators/([\w-]+)`", PAGE)) == {each.name for each in CALCULATORS}


def test_every_topic_has_a_problem_a_question_or_a_calculator() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    topics = [row for row in rows if len(row) == 3 and row[0].strip() not in ("topic", "section")]
    assert any("One norm for gradients" in topic for topic, *_ in topics)
    place = re.compile(rf"\]\(\.\./problems/|`/calculators/|{QUESTION.pattern}")
    assert [topic for topic, *places in topics if not place.search(" ".join(places))] == []


def test_every_question_exists() -> None:
    linked = QUESTION.findall(PAGE)
    assert linked
    for name, number, slug in linked:
        text = (CHECKOUT / "lessons" / slug / "lesson.md").read_text(encoding="utf-8")
        assert name == slug
        assert 1 <= int(number) <= text.count("\n::: question "), f"{slug}, question {number}"
