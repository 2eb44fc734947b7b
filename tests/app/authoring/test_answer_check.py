"""An answer-mode package is checked and validated by its own questions."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.authoring.package_check import judge_package
from app.authoring.package_template import new_package
from app.authoring.validator import steps_of
from grader.answers.question_variants import Variants
from grader.core.context import QUIET
from grader.judging.judge import Judge
from grader.review.reader import package_of
from grader.review.rules import MARK
from tests.grader.modes.answer.answer_package import FILES, InHere, package


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(InHere(), b"secret", tmp_path)


def found(judge: Judge, **changed: str) -> list[tuple[str, str]]:
    with ThreadPoolExecutor(1) as executor:
        report = judge_package(package(**changed), judge, QUIET, executor, print, runs=3)
    return [(each.rule, each.file) for each in report.faults]


def test_a_formula_that_is_never_wrong_is_found(judge: Judge) -> None:
    assert found(judge) == [("never-wrong", "mistakes.py")]


def test_questions_that_cannot_be_asked_are_found(judge: Judge) -> None:
    assert found(judge, explanation__md="{{ other }}") == [("questions", "questions.py")]


def test_a_validation_draws_the_questions_and_answers_them(judge: Judge) -> None:
    steps = [step(judge, QUIET) for step in steps_of(package())]
    assert [(each.file, each.passed) for each in steps] == [
        ("statement.md", True),
        ("starter.py", True),
        ("questions.py", True),
        ("mistakes.py", True),
    ]


def test_a_right_answer_that_is_not_accepted_is_found(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = judge.variants(package())
    assert drawn is not None
    wrong = Variants.read(drawn.stored())
    wrong.variants[0].truth["bytes"] = 1
    monkeypatch.setattr(Judge, "variants", lambda *_: wrong)
    assert ("questions", "questions.py") in found(judge)


def test_a_public_file_with_the_truth_is_found(judge: Judge) -> None:
    text = FILES["questions.py"]
    leaking = package(statement__md=text[text.index("def truth") : text.index("def steps")])
    steps = [step(judge, QUIET) for step in steps_of(leaking)]
    assert not steps[1].passed
    assert "statement.md contains the function truth of questions.py" in steps[1].message


def test_a_new_package_can_be_asked_once_its_marks_are_gone(judge: Judge) -> None:
    files = {
        name: text.replace(f"{MARK}: ", "") for name, text in new_package("shard_bytes", "answer", "Drafts").items()
    }
    drawn = judge.variants(package_of("shard_bytes", files))
    assert drawn is not None
    assert drawn.always_right() == []
    assert len(drawn.variants) > 60
