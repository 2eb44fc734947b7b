"""A check of a package judges its submissions in every variant, behind the walls."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from app.authoring.package_check import judge_package
from grader.core.context import QUIET
from grader.judging.judge import Judge
from grader.mistakes.known_mistakes import current, updated
from grader.package.variants import every_variant
from grader.review.reader import read_package
from tests.grader.conftest import judge, sandbox, shared_cache

__all__ = ["judge", "sandbox", "shared_cache"]
PACKAGES = Path(__file__).parents[2] / "grader" / "packages"


@pytest.mark.parametrize(("name", "submissions"), [("scale_by", 10), ("move_by", 11)])
def test_every_variant_of_a_package_is_checked(judge: Judge, name: str, submissions: int) -> None:
    package = read_package(PACKAGES / name)
    with ThreadPoolExecutor(2) as executor:
        report = judge_package(package, judge, QUIET, executor, lambda file: None)
    assert report.faults == ()
    assert report.submissions == submissions
    known = updated(package, report.fingerprints)
    for each in every_variant(replace(package, known=known)):
        assert current(each).keys() == {one.name for one in each.rejected}


def test_a_variant_whose_submission_gets_another_verdict_is_named(judge: Judge) -> None:
    """`literal_b` no longer says that it is for one variant."""
    scale_by = read_package(PACKAGES / "scale_by")
    changed = tuple(replace(each, variants=()) for each in scale_by.template.accepted) if scale_by.template else ()
    template = replace(scale_by.template or scale_by, accepted=changed)
    package = replace(scale_by, template=template)
    with ThreadPoolExecutor(2) as executor:
        report = judge_package(package, judge, QUIET, executor, lambda file: None)
    (fault,) = [each for each in report.faults if each.rule == "accepted"]
    assert fault.message.startswith("variant a: It must be accepted, but it is rejected (wrong_value).")
    assert fault.file == "submissions/accepted/literal_b.py"
