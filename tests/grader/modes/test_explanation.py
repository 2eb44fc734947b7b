"""What only explains a verdict may fail only itself, in every mode."""

from pathlib import Path

import numpy as np
import pytest

from grader.answers.question_variants import AnswerSheet
from grader.core.errors import Cancelled
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.modes.explanation import explanation
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox
from tests.grader.modes.answer import answer_package

MOVE_MEAN = read_package(Path(__file__).parents[1] / "packages" / "move_mean")
SOURCES = {
    "right": MOVE_MEAN.reference,
    "wrong value": next(each.source for each in MOVE_MEAN.rejected if each.reason == "wrong_value"),
    "replicated": MOVE_MEAN.reference.replace('P("x")', "P()"),
}
PROGRAM, CALL, ANSWER = (f"grader.modes.{mode}.grading" for mode in ("program", "call", "answer"))


class Broken:
    """Stands in for what explains, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, *_: object, **__: object) -> None:
        self.asked += 1
        raise TypeError("'<' not supported between instances of 'NoneType' and 'int'")


@pytest.fixture
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Broken:
    made = Broken()
    monkeypatch.setattr(request.param, made)
    return made


@pytest.mark.parametrize(
    ("broken", "source", "reason"),
    [
        (f"{PROGRAM}.results_of", "wrong value", "wrong_value"),
        (f"{PROGRAM}.compare", "wrong value", "wrong_value"),
        (f"{PROGRAM}.pattern_of", "replicated", "wrong_sharding"),
        (f"{PROGRAM}.ProgramGrading._misconception", "replicated", "wrong_sharding"),
        (f"{PROGRAM}.efficiency_of", "right", None),
        ("grader.mistakes.known_mistakes.by_likelihood", "wrong value", "wrong_value"),
    ],
    indirect=["broken"],
)
def test_a_program_keeps_its_verdict(judge: Judge, broken: Broken, source: str, reason: str | None) -> None:
    verdict = judge.judge(MOVE_MEAN, SOURCES[source])
    assert broken.asked
    assert verdict.reason == reason
    assert verdict.status == ("rejected" if reason else "accepted")
    assert (verdict.misconception, verdict.efficiency) == (None, None)


class Runner:
    """Answers for the package add_one. Its reference adds 1, and a submission returns its input."""

    def __init__(self) -> None:
        self.source = ""

    def __call__(self, message: dict, values: dict) -> Frame:
        self.source = message.get("source", self.source)
        match message["op"]:
            case "cases":
                return {"ok": True}, {"cases": [{"x": np.ones(2, np.float32)}]}
            case "call":
                (x,) = values["args"]
                return {"ok": True}, {"result": x if "submitted" in self.source else x + 1, "observed": []}
        return {"ok": True}, {}


@pytest.mark.parametrize(
    "broken",
    [f"{CALL}._fingerprint_of", f"{CALL}.CallGrading._is_same", "grader.mistakes.known_mistakes.by_likelihood"],
    indirect=True,
)
def test_a_result_keeps_its_verdict(add_one: Package, broken: Broken, tmp_path: Path) -> None:
    verdict = Judge(NullSandbox(Runner()), b"s", tmp_path).judge(add_one, "def add_one(x): return x  # submitted")
    assert broken.asked
    assert (verdict.status, verdict.reason, verdict.misconception) == ("rejected", "wrong_value", None)


@pytest.mark.parametrize("broken", [f"{ANSWER}._misconception"], indirect=True)
def test_an_answer_keeps_its_verdict(broken: Broken, tmp_path: Path) -> None:
    judge = Judge(answer_package.InHere(), b"s", tmp_path)
    questions = judge.variants(answer_package.package())
    assert questions is not None
    variant = questions.variants[0]
    sheet = AnswerSheet({**variant.truth, "bytes": 7}, variant.number, 1, variant.parameters).source()
    verdict = judge.judge(answer_package.package(), sheet)
    assert broken.asked
    assert (verdict.status, verdict.reason, verdict.misconception) == ("rejected", "wrong_value", None)


def test_a_stopped_grading_is_not_explained_away() -> None:
    def stopped() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        explanation("misconception of add_one", stopped)
