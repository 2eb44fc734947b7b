"""The rejected program on the front page shows the judge's verdict on a starter that ships, word for word."""

import json

import pytest

from app.learning.browse.front_page_example import FILE
from tests.grader import shipped_submissions
from tests.grader.front_example import PROBLEM, example_of


@pytest.mark.rotation(
    "app/learning/browse/front_page_example",
    "grader/",
    f"problems/{PROBLEM}/",
    "tests/grader/front_example.py",
    "tests/grader/test_front_example.py",
    "uv.lock",
)
@pytest.mark.xdist_group("program")
def test_the_example_is_what_the_judge_says(judge) -> None:
    package = shipped_submissions.package(PROBLEM)
    made = example_of(package.starter, judge.judge(package, package.starter))
    assert json.loads(FILE.read_text(encoding="utf-8")) == made
