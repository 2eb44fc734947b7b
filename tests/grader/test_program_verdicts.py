"""Every submission that ships with a program-mode problem, through the whole judge, on every mesh."""

from pathlib import Path

import pytest

from grader.judging.judge import Judge
from grader.modes.program.mode import ProgramMode
from grader.sandbox.build import PooledSandbox
from tests.grader.shipped_submissions import accepted, each_of, known, package, rejected, slugs
from tests.grader.shipped_verdicts import compare_with_kept

SLUGS = slugs("program")


@pytest.fixture(autouse=True)
def no_compiler_for_chips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept verdicts are those of a machine without compilers for chips. tests/gpu and tests/tpu have them."""
    monkeypatch.setattr("grader.modes.program.on_chip.compiler_of", lambda platform: None)


def test_there_are_problems():
    assert SLUGS


@pytest.mark.parametrize("slug", each_of("program", "reference"))
def test_the_reference_scores_100_and_costs_what_it_costs(terse: Judge, slug: str):
    verdict = terse.judge(package(slug), package(slug).reference)
    compare_with_kept(f"{slug}:reference", verdict)
    assert [check.message for check in verdict.checks if not check.passed] == []
    assert (verdict.status, verdict.score) == ("accepted", 100)
    assert any(case.public for case in verdict.cases)
    assert not all(case.public for case in verdict.cases)
    assert verdict.efficiency is not None
    assert verdict.efficiency.score == 100.0


@pytest.mark.parametrize("slug", each_of("program", "starter"))
def test_the_starter_does_not_pass(terse: Judge, slug: str):
    verdict = terse.judge(package(slug), package(slug).starter)
    assert verdict.status == "rejected"
    compare_with_kept(f"{slug}:starter", verdict)


@pytest.mark.parametrize("name", accepted("program"))
def test_an_accepted_submission_is_accepted(terse: Judge, name: str):
    problem, submission = known(name)
    verdict = terse.judge(problem, submission.source)
    compare_with_kept(name, verdict)
    assert [check.message for check in verdict.checks if not check.passed] == []
    assert (verdict.status, verdict.score) == ("accepted", 100)


@pytest.mark.parametrize("name", rejected("program"))
def test_a_rejected_submission_is_rejected_for_its_reason(terse: Judge, name: str):
    problem, submission = known(name)
    verdict = terse.judge(problem, submission.source)
    compare_with_kept(name, verdict)
    assert (verdict.status, verdict.reason) == ("rejected", submission.reason)
    assert verdict.score is not None
    assert verdict.score < 100
    assert verdict.efficiency is None
    values = next(check for check in verdict.checks if check.id == "values")
    if not values.passed:
        assert verdict.score == 0


@pytest.mark.parametrize("reason", ["wrong_value", "wrong_communication"])
def test_a_known_misunderstanding_is_named(judge: Judge, reason: str):
    """By its values or, if these are right, by the structure of its program."""
    problem = package("psum_scatter_mean")
    submission = next(each for each in problem.rejected if each.reason == reason)
    assert judge.judge(problem, submission.source).misconception == submission.misunderstanding


def test_a_run_shows_public_cases_only(terse: Judge):
    problem = package("psum_scatter_mean")
    verdict = terse.judge(problem, problem.reference, hidden=False)
    assert [case.public for case in verdict.cases] == [True] * len(verdict.cases)
    assert (verdict.score, verdict.efficiency) == (None, None)


def test_nothing_is_run_twice(sandbox: PooledSandbox, shared_cache: Path, monkeypatch: pytest.MonkeyPatch):
    """The facts of a reference's program are stored on disk: a judge that starts again only reads them."""
    problem = package("psum_scatter_mean")
    judge = Judge(sandbox, b"a secret of the tests, 32 bytes.", shared_cache)
    judge.prepare(problem)
    monkeypatch.setattr(ProgramMode, "prepare", lambda *_: pytest.fail("the reference was run again"))
    again = Judge(sandbox, b"a secret of the tests, 32 bytes.", shared_cache)
    again.prepare(problem)
    assert again.judge(problem, problem.reference).status == "accepted"
