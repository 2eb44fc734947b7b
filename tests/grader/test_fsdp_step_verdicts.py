"""Every submission that ships with fsdp_step, through the whole judge."""

from pathlib import Path

import pytest

from grader.judge import Judge
from grader.package.package import KnownSubmission, Package

FOLDER = Path(__file__).resolve().parents[2] / "problems" / "fsdp_step" / "submissions"
ACCEPTED = sorted(path.stem for path in FOLDER.glob("accepted/*.py"))
REJECTED = sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("rejected/*/*.py"))


def known(submissions: tuple[KnownSubmission, ...], name: str) -> KnownSubmission:
    return next(submission for submission in submissions if submission.name == name)


def test_the_reference_scores_100(judge: Judge, fsdp_step: Package):
    verdict = judge.judge(fsdp_step, fsdp_step.reference)
    assert (verdict.status, verdict.reason, verdict.score) == ("accepted", None, 100)
    assert sum(case.public for case in verdict.cases) == 2
    assert len(verdict.cases) >= 10


def test_the_starter_does_not_pass(judge: Judge, fsdp_step: Package):
    assert judge.judge(fsdp_step, fsdp_step.starter).status == "rejected"


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_accepted_submission_is_accepted(judge: Judge, fsdp_step: Package, name: str):
    verdict = judge.judge(fsdp_step, known(fsdp_step.accepted, name).source)
    assert [check.message for check in verdict.checks if not check.passed] == []
    assert (verdict.status, verdict.score) == ("accepted", 100)


@pytest.mark.parametrize("name", REJECTED)
def test_a_rejected_submission_is_rejected_for_its_reason(judge: Judge, fsdp_step: Package, name: str):
    submission = known(fsdp_step.rejected, name)
    verdict = judge.judge(fsdp_step, submission.source)
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
