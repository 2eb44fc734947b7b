"""docs/curriculum.md leads to every problem, lesson and calculator, and to nothing else."""

import re

from app.learning.calculators.tables import CALCULATORS
from tests.docs.pages import CHECKOUT

PAGE = (CHECKOUT / "docs" / "curriculum.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "topic" not in line]


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


def test_every_topic_has_a_place() -> None:
    assert len(ROWS) > 20
    for topic, *places in ROWS:
        assert any(place.strip() for place in places), topic
