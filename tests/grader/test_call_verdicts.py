"""Every submission that ships with a call-mode problem, through the whole judge."""

import pytest

from grader.judging.judge import Judge
from grader.package.package import Package
from grader.review.key_order import with_keys_reversed
from tests.grader.shipped_submissions import accepted, each_of, known, package, rejected, slugs
from tests.grader.shipped_verdicts import compare_with_kept


def test_there_are_problems():
    assert slugs("call")


@pytest.mark.parametrize("slug", each_of("call", "reference"))
def test_the_reference_scores_100(judge: Judge, slug: str):
    verdict = judge.judge(package(slug), package(slug).reference)
    compare_with_kept(f"{slug}:reference", verdict)
    assert (verdict.status, verdict.reason, verdict.score) == ("accepted", None, 100)
    assert any(case.public for case in verdict.cases)
    assert not all(case.public for case in verdict.cases)


@pytest.mark.parametrize("slug", each_of("call", "reference"))
def test_the_order_of_the_references_keys_does_not_matter(judge: Judge, slug: str):
    problem = package(slug)
    verdict = judge.judge(problem, with_keys_reversed(problem.reference, problem.manifest.entry))
    assert [check.message for check in verdict.checks if not check.passed] == []
    assert (verdict.status, verdict.score) == ("accepted", 100)


def test_fsdp_step_has_two_public_cases_and_eight_hidden_ones_at_least(judge: Judge):
    verdict = judge.judge(package("fsdp_step"), package("fsdp_step").reference)
    assert sum(case.public for case in verdict.cases) == 2
    assert len(verdict.cases) >= 10


@pytest.mark.parametrize("slug", each_of("call", "starter"))
def test_the_starter_does_not_pass(judge: Judge, slug: str):
    verdict = judge.judge(package(slug), package(slug).starter)
    assert verdict.status == "rejected"
    compare_with_kept(f"{slug}:starter", verdict)


@pytest.mark.parametrize("name", accepted("call"))
def test_an_accepted_submission_is_accepted(judge: Judge, name: str):
    problem, submission = known(name)
    verdict = judge.judge(problem, submission.source)
    compare_with_kept(name, verdict)
    assert [check.message for check in verdict.checks if not check.passed] == []
    assert (verdict.status, verdict.score) == ("accepted", 100)


@pytest.mark.parametrize("name", rejected("call"))
def test_a_rejected_submission_is_rejected_for_its_reason(judge: Judge, name: str):
    problem, submission = known(name)
    verdict = judge.judge(problem, submission.source)
    compare_with_kept(name, verdict)
    assert (verdict.status, verdict.reason) == ("rejected", submission.reason)
    assert verdict.score is not None
    assert verdict.score < 100
    values = next(check for check in verdict.checks if check.id == "values")
    if not values.passed:
        assert verdict.score == 0
    if submission.reason == "wrong_value":
        assert verdict.misconception == submission.misunderstanding


def test_a_run_shows_public_cases_only(judge: Judge, fsdp_step: Package):
    verdict = judge.judge(fsdp_step, fsdp_step.reference, hidden=False)
    assert [case.id for case in verdict.cases] == ["public-1", "public-2"]
    assert verdict.score is None


def test_an_attempt_is_graded_on_hidden_cases_of_its_own(judge: Judge, fsdp_step: Package):
    """Right in the public cases. The verdict names the mistake, which only hidden cases show."""
    assert judge.judge(fsdp_step, fsdp_step.reference, draw="an attempt").score == 100
    mistake = next(known for known in fsdp_step.rejected if known.name.endswith("seed_rounded"))
    verdict = judge.judge(fsdp_step, mistake.source, draw="another attempt")
    assert [case.passed for case in verdict.cases if case.public] == [True, True]
    assert (verdict.reason, verdict.misconception) == ("wrong_value", mistake.misunderstanding)
