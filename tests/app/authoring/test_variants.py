"""A validation has its steps for every variant, and says which one each is about."""

from app.authoring.validator import Fingerprints, steps_of
from app.grading.queue.null_grader import NullGrader
from grader.core.context import QUIET
from grader.review.reader import read_package
from tests.grader.shipped_submissions import PROBLEMS

SCALE_BY = read_package(PROBLEMS.parent / "tests" / "grader" / "packages" / "scale_by")


def test_every_variant_is_validated() -> None:
    found: Fingerprints = {}
    done = [step(NullGrader(), QUIET) for step in steps_of(SCALE_BY, found)]
    about = [each.message.partition(":")[0] for each in done]
    assert about == ["Variant a"] * 8 + ["Variant b"] * 8
    assert [each.file for each in done if each.file == "reference.py"] == ["reference.py"] * 2
    assert set(found) == {"a:wrong_value/number_of_b", "a:wrong_value/squared", "b:wrong_value/squared"}
