"""No problem and no lesson of this repository lacks anything that can be seen without the judge, each rule for all."""

import pytest

from tests import lacks
from tests.faults import assert_none
from tests.lessons.shipped_lessons import SHIPPED
from tests.shipped import lesson_rules, problem_rules
from tests.shipped.problem_rules import HUE, SLUG

# Each of some rules reads all problems for 12 s of CPU, which is minutes on a busy machine.
pytestmark = pytest.mark.timeout(900)


def name_of(rule: object) -> str:
    return str(getattr(rule, "__name__", rule))


@pytest.mark.parametrize("rule", problem_rules.RULES, ids=name_of)
def test_no_problem(rule: problem_rules.Rule) -> None:
    assert_none(problem_rules.shipped_faults(rule))


@pytest.mark.parametrize("rule", lesson_rules.RULES, ids=name_of)
def test_no_lesson(rule: lesson_rules.Rule) -> None:
    assert_none(lesson_rules.shipped_faults(rule))


def test_every_lesson_was_read() -> None:
    assert [str(fault) for fault in SHIPPED.faults] == []
    assert {each.slug for each in SHIPPED.all()} == set(lesson_rules.all_slugs())


def test_a_name_between_asterisks_is_a_slug_and_code_is_not() -> None:
    assert SLUG.findall("Before *fsdp_auto_step* and *dp_step*, not `*a_b*`, **c_d** or *word*.") == [
        "fsdp_auto_step",
        "dp_step",
    ]


def test_a_figure_names_the_colour_of_a_slice_in_its_text_only() -> None:
    assert HUE.findall('<text fill="red">Blue: a shard.</text><text>Grey: coloured by device.</text>') == ["Blue"]


def test_one_command_lists_all_that_a_problem_or_a_lesson_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert lacks.main(["problem", "shift_right", "no_such_problem"]) == 1
    assert capsys.readouterr().out == "problems/no_such_problem/problem.toml:1: it is missing\n"
    assert lacks.main(["lesson", "experts"]) == 0
    assert capsys.readouterr().out == "Nothing is missing.\n"
    assert lacks.main(["lesson"]) == 2
