"""Variants through the whole judge, behind the walls: each is graded on its own cases, by its own reference."""

from pathlib import Path

import pytest

from grader.judging.judge import Judge
from grader.package.package import Package
from grader.package.variants import every_variant, of_variant
from grader.review.reader import read_package

PACKAGES = Path(__file__).parents[1] / "packages"
OF_B = "def scale(x):\n    return 5 * x\n"


@pytest.fixture(scope="module")
def scale_by() -> Package:
    return read_package(PACKAGES / "scale_by")


@pytest.fixture(scope="module")
def move_by() -> Package:
    return read_package(PACKAGES / "move_by")


def test_code_for_one_variant_is_rejected_in_another_and_told_why(judge: Judge, scale_by: Package) -> None:
    right = judge.judge(of_variant(scale_by, "b"), OF_B, draw="an attempt")
    assert (right.status, right.score, right.variant) == ("accepted", 100, "b")
    wrong = judge.judge(of_variant(scale_by, "a"), OF_B, draw="an attempt")
    assert (wrong.status, wrong.reason, wrong.variant) == ("rejected", "wrong_value", "a")
    assert wrong.misconception == "You multiplied by 5, which is not the number in your statement."
    assert right.version == wrong.version


def test_code_that_imports_the_values_passes_in_each(judge: Judge, scale_by: Package) -> None:
    source = "from variant import factor\n\ndef scale(x):\n    return x * factor\n"
    found = [judge.judge(each, source, draw="an attempt") for each in every_variant(scale_by)]
    assert [each.status for each in found] == ["accepted", "accepted"]


def test_a_submission_cannot_change_the_values_for_the_judge(judge: Judge, scale_by: Package) -> None:
    source = "import variant\n\nvariant.factor = 5\n\ndef scale(x):\n    return x * variant.factor\n"
    assert judge.judge(of_variant(scale_by, "a"), source).status == "rejected"
    assert judge.judge(of_variant(scale_by, "a"), source.replace("5", "3")).status == "accepted"


def test_a_verdict_without_variants_has_no_such_key(judge: Judge, add_one: Package, scale_by: Package) -> None:
    source = "def add_one(x):\n    return x + 1\n"
    assert "variant" not in judge.judge(add_one, source).model_dump()
    assert judge.judge(scale_by, OF_B).model_dump()["variant"] == "a"


@pytest.mark.parametrize("name", ["literal_slow", "literal_fast"])
def test_a_program_of_one_variant_is_rejected_in_the_other(judge: Judge, move_by: Package, name: str) -> None:
    mine = name.removeprefix("literal_")
    source = (PACKAGES / "move_by" / "submissions" / "accepted" / f"{name}.py").read_text()
    for each in every_variant(move_by):
        verdict = judge.judge(each, source)
        assert (verdict.status, verdict.variant) == (
            "accepted" if each.variant_name == mine else "rejected",
            each.variant_name,
        )
