"""The validation of a package: each of its submissions gets its verdict, and public files reveal nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.package.fault import PackageFault
from grader.review.reader import read_package
from grader.review.solution import solution_of
from grader.review.validation import Expectation, ValidationStep, expectations, leaks, weigh
from grader.verdicts.verdict import Verdict

PACKAGES = Path(__file__).parents[1] / "packages"
ADD_ONE, MOVE_MEAN = read_package(PACKAGES / "add_one"), read_package(PACKAGES / "move_mean")
INIT, STEP = (f"def {part}" for part in MOVE_MEAN.reference.split("def ")[1:])


def verdict(status, reason=None):
    return Verdict(problem="add_one", version="v", status=status, reason=reason, score=0, checks=[], cases=[], walls=[])


def test_every_submission_of_a_package_is_expected_once():
    found = expectations(ADD_ONE)
    files = [each.file for each in found]
    assert len(set(files)) == len(files)
    assert {name for name in ADD_ONE.files if name.startswith("submissions/")} | {"reference.py", "starter.py"} == set(
        files
    )
    assert [each.file for each in found if each.accepted] == ["reference.py"] + [
        name for name in ADD_ONE.files if name.startswith("submissions/accepted/")
    ]
    assert {each.reason for each in found if "rejected" in each.file} == {"wrong_value"}


@pytest.mark.parametrize(
    ("accepted", "reason", "got", "passed"),
    [
        (True, None, verdict("accepted"), True),
        (True, None, verdict("rejected", "error"), False),
        (True, None, verdict("failed"), False),
        (False, None, verdict("rejected", "error"), True),
        (False, None, verdict("accepted"), False),
        (False, None, verdict("failed"), False),
        (False, "error", verdict("rejected", "error"), True),
        (False, "error", verdict("rejected", "wrong_value"), False),
        (False, "error", verdict("accepted"), False),
        (False, "error", verdict("failed"), False),
    ],
)
def test_a_submission_passes_with_the_verdict_that_its_place_names(accepted, reason, got, passed):
    assert weigh(Expectation("x.py", "", accepted, reason), got).passed is passed


def test_a_finding_says_what_was_expected():
    found = weigh(Expectation("x.py", "", False, "error"), verdict("rejected", "wrong_value"))
    assert found == ValidationStep("x.py", False, "It must be rejected (error), but it is rejected (wrong_value).")


def test_an_answer_in_a_public_file_is_found_however_it_is_indented():
    shown = "".join(f"    {line}\n" for line in ADD_ONE.reference.splitlines())
    [found] = leaks(replace(ADD_ONE, statement=f"Hint:\n\n{shown}"))
    assert found == PackageFault(
        "leak", "statement.md", None, "statement.md contains the function add_one of reference.py"
    )
    assert [each for each in leaks(replace(ADD_ONE, starter=ADD_ONE.cases)) if "hidden_cases" in each.message]
    assert [each for each in leaks(replace(ADD_ONE, hints=(ADD_ONE.editorial,))) if "editorial.md" in each.message]


def test_a_step_that_the_starter_finishes_is_no_secret_and_its_init_is():
    unfinished = INIT[: INIT.index("    ")] + "    raise NotImplementedError\n\n\n"
    package = replace(MOVE_MEAN, starter=unfinished + STEP, statement=f"```python\n{STEP}```\n")
    assert solution_of(package) == "init"
    assert leaks(package) == []
    found = [str(each) for each in leaks(replace(package, hints=(INIT,)))]
    assert "hints.md contains the function init of reference.py" in found
    assert not [each for each in found if "function step" in each]


@pytest.mark.parametrize(
    "starter", [MOVE_MEAN.starter, INIT + MOVE_MEAN.starter[MOVE_MEAN.starter.index("def step") :], INIT + STEP]
)
def test_the_step_is_secret_unless_only_the_init_is_left_to_write(starter):
    package = replace(MOVE_MEAN, starter=starter, statement=STEP)
    assert solution_of(package) == "step"
    assert "statement.md contains the function step of reference.py" in map(str, leaks(package))
