"""What the schedule of the compiler for GPUs shows of each submission of prefetch_gather."""

from pathlib import Path

import pytest

from grader.core.chips import compiler_of
from grader.judging.judge import Judge
from grader.review.reader import read_package
from tests.grader.on_chips import hidden_in, overlap_of

PACKAGE = read_package(Path(__file__).parents[2] / "problems" / "prefetch_gather")
pytestmark = pytest.mark.xdist_group("gpu")


@pytest.mark.parametrize("source", [PACKAGE.reference, *(each.source for each in PACKAGE.accepted)])
def test_what_gathers_ahead_is_hidden_on_gpus(terse: Judge, source: str) -> None:
    verdict = terse.judge(PACKAGE, source)
    assert verdict.status == "accepted"
    assert f"On h100:8 ({compiler_of('gpu')}), the collective in the loop is hidden" in overlap_of(verdict).message
    row = hidden_in(verdict, "h100:8")
    assert row.mine == row.whole


def test_the_starter_waits_and_the_editorial_says_so(terse: Judge) -> None:
    verdict = terse.judge(PACKAGE, PACKAGE.starter)
    assert not overlap_of(verdict).passed
    row = hidden_in(verdict, "h100:8")
    assert row.mine == 0
    assert f"the product of the round with its {row.whole:,} operations" in " ".join(PACKAGE.editorial.split())
