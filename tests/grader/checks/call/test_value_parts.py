"""Parts of the values that earn points by themselves."""

import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.presentation.verdict_view import arrange_verdict
from grader.checks.call import values
from grader.checks.call_outcome import Answer, CallSubject, Outcome
from grader.checks.compare import compare
from grader.checks.finding import Finding
from grader.checks.grading_table import grading_of
from grader.checks.value_parts import Part
from grader.core.case import Case
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Verdict

ADD_ONE = Path(__file__).parents[2] / "packages" / "add_one"
LOSS = Part(title="The loss", points=20, outputs=["loss"])
WEIGHTS = Part(title="The weights", points=1, outputs=["params/*"])
PUBLIC = Part(title="Public cases", points=10, cases=["public-*"])
PARTS = [LOSS, WEIGHTS, PUBLIC]


def result(loss: float = 1, weight: float = 1) -> dict[str, Any]:
    return {"loss": np.float32([loss]), "params": [np.float32([weight])]}


def outcome(case: str, got: object) -> Outcome:
    fault = SubmissionFault("error", "m") if got is None else None
    mismatch = None if got is None else compare(result(), got, {})
    answer = None if got is None else Answer(got, [])
    return Outcome(Case(case, case.startswith("public"), {}), Answer(result(), []), answer, fault, mismatch)


def finding_of(public: object, hidden: object) -> Finding:
    outcomes = [outcome("public-1", public), outcome("hidden-1", hidden)]
    return values.check(CallSubject(outcomes, {}), values.Bounds(parts=PARTS))


@pytest.mark.parametrize(
    ("public", "hidden", "right", "points"),
    [
        (
            result(),
            result(weight=2),
            "Right: The loss (20 points) and Public cases (10 points). Wrong: The weights",
            30,
        ),
        (result(), result(loss=2), "Right: The weights (1 point) and Public cases (10 points). Wrong: The loss", 11),
        (result(loss=2), result(), "Right: The weights (1 point). Wrong: The loss (20 points) and Public cases", 1),
        (result(), None, "Right: Public cases (10 points). Wrong: The loss (20 points) and The weights", 10),
        ({"loss": np.float32([1])}, result(), "Right: The loss (20 points). Wrong: The weights (1 point) and", 20),
        (None, None, "Wrong: The loss (20 points), The weights (1 point) and Public cases (10 points).", 0),
    ],
    ids=["hidden weights", "hidden loss", "public loss", "hidden fault", "no weights", "all faults"],
)
def test_the_right_parts_earn_their_points(public: object, hidden: object, right: str, points: int) -> None:
    finding = finding_of(public, hidden)
    assert not finding.passed
    assert right in finding.message
    assert finding.points == points


def test_evidence_has_the_points_of_each_part() -> None:
    facts = finding_of(result(), result(loss=2)).evidence[-1]
    points = {"The loss": "0 of 20", "The weights": "1 of 1", "Public cases": "10 of 10"}
    assert facts == Facts(about="points of the parts", values=points)


def test_a_part_without_a_case_earns_nothing() -> None:
    hidden = Part(title="Hidden cases", points=10, cases=["hidden-*"])
    subject = CallSubject([outcome("public-1", result(loss=2))], {})
    assert values.check(subject, values.Bounds(parts=[hidden])).points == 0


MANIFEST = """points = 90

[[checks.parts]]
title = "Public cases"
points = 30
cases = ["public-*"]
PART
[[checks]]
id = "source"
points = 10

[[checks.forbidden]]
names = ["numpy"]
why = "Use JAX."
"""


def package_with(tmp_path: Path, part: str = "") -> Package:
    folder = Path(shutil.copytree(ADD_ONE, tmp_path / "add_one"))
    manifest = folder / "problem.toml"
    manifest.write_text(manifest.read_text().replace("points = 100\n", MANIFEST.replace("PART", part)))
    return read_package(folder)


def judge_of(tmp_path: Path, package: Package, wrong: float | None = None) -> Judge:
    """The reference adds 1. A submission adds 2 to this number, and otherwise 1."""
    # By thread, because the reference runs in one of its own, beside the submission.
    loaded: dict[int, object] = {}

    def answer(message: dict[str, Any], values: dict[str, Any]) -> Frame:
        match message["op"]:
            case "load":
                loaded[threading.get_ident()] = message["source"]
                return {"ok": True}, {}
            case "cases":
                return {"ok": True}, {"cases": [{"x": np.float32([1 if message["key"] is None else 7])}]}
        (x,) = values["args"]
        is_wrong = loaded[threading.get_ident()] == "the_source" and x[0] == wrong
        return {"ok": True}, {"result": x + 1 + is_wrong, "observed": []}

    return Judge(NullSandbox(answer), b"s", tmp_path)


def verdict_of(tmp_path: Path, wrong: float | None) -> Verdict:
    package = package_with(tmp_path)
    return judge_of(tmp_path, package, wrong).judge(package, "the_source", draw="an attempt")


@pytest.mark.parametrize(("wrong", "score"), [(None, 100), (7, 30), (1, 0)], ids=["right", "hidden", "public"])
def test_the_score_is_the_points_of_the_right_parts(tmp_path: Path, wrong: float | None, score: int) -> None:
    verdict = verdict_of(tmp_path, wrong)
    assert (verdict.score, verdict.status) == (score, "accepted" if wrong is None else "rejected")


def test_the_page_says_why_other_checks_do_not_count(tmp_path: Path) -> None:
    note = arrange_verdict(verdict_of(tmp_path, 7)).score_note
    assert note.endswith("10 points, but the score is 30: only the parts of the values that are right count.")


def test_students_read_what_earns_points(tmp_path: Path) -> None:
    graded = grading_of(package_with(tmp_path).manifest)[0]
    assert graded.sentences[0].endswith("; otherwise the score is the points of the parts that are right")
    assert graded.bounds[-1] == (
        "Public cases, 30 of the points: every output matches the reference in public-*, whatever else is wrong"
    )


SAME = '\n[[checks.parts]]\ntitle = "Public cases"\npoints = 70\n'


def test_parts_are_not_worth_more_than_their_check_and_have_titles_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(PackageInvalid) as caught:
        package_with(tmp_path, SAME)
    assert [str(each) for each in caught.value.faults] == [
        "problem.toml: check 'values': its parts are worth 100 points together, and the check 90",
        "problem.toml: check 'values': two parts have the same title",
    ]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ('outputs = ["loss"]', "parts.1.outputs: no output of the reference matches 'loss'"),
        ('cases = ["hiden-1"]', "parts.1.cases: no case matches 'hiden-1' (did you mean 'hidden-1'?)"),
    ],
    ids=["output", "case"],
)
def test_a_part_of_what_does_not_exist_is_refused(tmp_path: Path, key: str, said: str) -> None:
    package = package_with(tmp_path, f'\n[[checks.parts]]\ntitle = "Other"\npoints = 1\n{key}\n')
    with pytest.raises(GraderFault) as caught:
        judge_of(tmp_path, package).answers(package)
    assert said in str(caught.value)
