"""The questions of the answer-mode problems: the judge accepts their answers, and real arrays confirm them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.grader.shipped_submissions import PROBLEMS, slugs

SLUGS = slugs("answer")
JUDGED_BY = (
    "app/authoring/package_check.py",
    "grader/modes/answer/",
    "grader/answers/question_variants.py",
    "tests/problems/answer_questions.py",
)
pytestmark = [
    pytest.mark.xdist_group("answer questions"),
    pytest.mark.rotation(*(f"problems/{slug}/" for slug in SLUGS), *JUDGED_BY),
]


@pytest.fixture(scope="module")
def report(on_8_devices: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return on_8_devices("answer_questions.py", PROBLEMS)


@pytest.mark.parametrize("slug", SLUGS)
def test_the_judged_rules_find_nothing(report: dict[str, Any], slug: str) -> None:
    """Among them: right answers are accepted, and each known wrong formula is rejected with its misunderstanding."""
    assert report[slug]["findings"] == []
    assert report[slug]["questions"] > 50


@pytest.mark.parametrize("slug", SLUGS)
def test_arrays_that_are_placed_on_devices_confirm_the_answers(report: dict[str, Any], slug: str) -> None:
    assert report[slug]["wrong"] == []


@pytest.mark.parametrize("slug", SLUGS)
def test_the_wrong_formulas_can_be_told_apart_in_nearly_all_questions(report: dict[str, Any], slug: str) -> None:
    assert len(report[slug]["mistakes"]) >= 6
    often = report[slug]["questions"] // 10
    assert {names: number for names, number in report[slug]["alike"].items() if number > often} == {}


def test_single_messages_do_what_the_collectives_do(report: dict[str, Any]) -> None:
    """Read_the_hlo_1 takes the bytes that a device sends from them."""
    assert len(report["messages"]) == 5
    assert [kind for kind, same in report["messages"].items() if not same] == []
