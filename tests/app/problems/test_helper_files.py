"""Helpers of a problem are public: REST returns them, and similarity does not count what students copy from them."""

from dataclasses import replace

import pytest

from app.problems.schemas import ProblemDetail
from app.teaching.similarity.service import public_code
from grader.package.package import Package
from grader.review.reader import read_package
from tests.grader.shipped_submissions import PROBLEMS

HELPERS = {"given": "def given(x):\n    return [x + number for number in range(3)]\n"}


@pytest.fixture
def fsdp_step() -> Package:
    return read_package(PROBLEMS / "fsdp_step")


def test_rest_returns_the_sources_by_name(fsdp_step: Package) -> None:
    assert ProblemDetail.of(replace(fsdp_step, helpers=HELPERS)).helpers == HELPERS
    assert ProblemDetail.of(fsdp_step).helpers == {}


def test_similarity_knows_them_as_given(fsdp_step: Package) -> None:
    assert public_code(replace(fsdp_step, helpers=HELPERS)) != public_code(fsdp_step)
