"""The judge with a sandbox that answers from a table: how it reads replies, honest and forged."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from grader.core.context import Context
from grader.core.errors import Cancelled, GraderFault, SubmissionFault
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.evidence import Tolerances, ToleranceUsed

INPUT = np.asarray([12345.0, 2.0], np.float32)
HIDDEN = np.asarray([67890.0, 5.0], np.float32)


class Table:
    """Plays all the runners: cases.py and reference.py as they are, and `submission` for every other source."""

    def __init__(self, package: Package, submission) -> None:
        self.package, self.submission = package, submission
        self.loaded = ""

    def __call__(self, message: dict, values: dict) -> Frame:
        ok = {"ok": True}
        match message["op"]:
            case "load":
                self.loaded = message["source"]
                return ok, {}
            case "cases":
                return ok, {"cases": [{"x": INPUT if message["key"] is None else HIDDEN}]}
        (x,) = values["args"]
        if self.loaded == self.package.reference:
            return ok, {"result": x + 1, "observed": []}
        for known in self.package.rejected:
            if self.loaded == known.source:
                return ok, {"result": x + 2 if "two" in known.source else x * 2, "observed": []}
        return ok, self.submission(x)


@pytest.fixture
def grade(add_one: Package, tmp_path: Path):
    def run(submission, **options):
        judge = Judge(NullSandbox(Table(add_one, submission)), b"s", tmp_path)
        return judge.judge(add_one, "the source", **options)

    return run


def fault(reason: str, message: str = "m", **detail: object):
    def answer(x: object) -> dict:
        raise SubmissionFault(reason, message, **detail)  # type: ignore[arg-type]

    return answer


def test_the_right_answer_is_accepted(grade):
    verdict = grade(lambda x: {"result": x + 1})
    assert (verdict.status, verdict.reason, verdict.score) == ("accepted", None, 100)
    assert [case.id for case in verdict.cases] == ["public-1", "hidden-1"]
    assert verdict.checks[0].evidence[0] == Tolerances(by_dtype={"float32": ToleranceUsed(rtol=1e-5, atol=1e-6)})


def test_a_run_sees_public_cases_only_and_has_no_score(grade):
    verdict = grade(lambda x: {"result": x + 1}, hidden=False)
    assert [case.id for case in verdict.cases] == ["public-1"]
    assert (verdict.status, verdict.score) == ("accepted", None)


def test_a_wrong_value_scores_nothing_and_names_its_misconception(grade):
    verdict = grade(lambda x: {"result": x + 2})
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", "wrong_value", 0)
    assert verdict.misconception == "You added two instead of one."


def test_an_unknown_mistake_names_no_misconception(grade):
    assert grade(lambda x: {"result": x + 3}).misconception is None


def test_a_public_case_shows_inputs_expected_and_got(grade):
    message = grade(lambda x: {"result": x + 2}).cases[0].message
    for part in (
        "the worst is [1]",
        "expected 3, got 4",
        "x = float32[2]",
        "1.2345e+04",
        "Expected: float32[2]",
        "Got:",
    ):
        assert part in message


@pytest.mark.parametrize(
    "submission",
    [
        lambda x: {"result": x + 2},
        lambda x: {"result": np.full(tuple(x.astype(int) % 100), 1.0, np.float32)},
        lambda x: {"result": [f"{x}"]},
        fault(
            "error", f"{HIDDEN}", type=f"E{HIDDEN}", traceback=[{"line": 67890, "function": "67890", "text": "67890"}]
        ),
        fault("error", "67890", type="ValueError", traceback=[]),
        fault("missing_entry", "67890"),
        fault("syntax_error", "67890", line=67890),
        fault("memory_limit", "67890", type="67890"),
        fault("output_limit", "67890"),
    ],
)
def test_a_hidden_case_tells_no_value(grade, submission):
    def answer(x):
        if np.array_equal(x, HIDDEN):
            return submission(x)
        return {"result": x + 1}

    verdict = grade(answer)
    assert verdict.status == "rejected"
    assert not verdict.cases[1].passed
    told = json.dumps(verdict.model_dump(mode="json", exclude={"version"}))
    assert "67890" not in told
    assert "6789" not in told


@pytest.mark.parametrize("result", [{}, {"result": None}, {"other": INPUT}, {"result": {}}])
def test_a_reply_without_the_result_is_never_a_pass(grade, result):
    verdict = grade(lambda x: result)
    assert (verdict.status, verdict.reason) == ("rejected", "wrong_structure")


@pytest.mark.parametrize("reason", ["time_limit", "killed", "memory_limit", "divergent_collective"])
def test_after_a_fault_that_ends_the_process_nothing_more_is_run(grade, reason):
    calls = []

    def answer(x):
        calls.append(x)
        raise SubmissionFault(reason, "it ended")

    verdict = grade(answer)
    assert len(calls) == 1
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", reason, 0)
    assert verdict.cases[1].message == "Not run: an earlier case ended the process."


@pytest.mark.parametrize("error", [GraderFault("disk full at /srv/x"), RuntimeError("unforeseen"), MemoryError()])
def test_what_is_the_graders_fault_fails_and_is_not_charged(grade, error):
    def answer(x):
        raise error

    verdict = grade(answer)
    assert (verdict.status, verdict.reason, verdict.score) == ("failed", None, 0)
    assert "/srv/x" not in verdict.model_dump_json()


def test_cancelling_is_no_verdict(grade):
    def answer(x):
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        grade(answer, context=Context(stop=threading.Event()))


def test_text_that_no_database_takes_is_replaced(grade):
    verdict = grade(fault("error", "a\0b\ud800c", type="ValueError"))
    assert "a␀b⟨U+D800⟩c" in verdict.cases[0].message
    verdict.model_dump_json().encode()


def test_output_is_sealed_before_the_first_hidden_case(add_one, tmp_path):
    order = []
    table = Table(add_one, lambda x: order.append(bool(np.array_equal(x, HIDDEN))) or {"result": x + 1})
    sandbox = NullSandbox(table)
    judge = Judge(sandbox, b"s", tmp_path)
    judge.prepare(add_one)
    original = sandbox.open

    def spied(*args):
        session = original(*args)
        seal = session.seal_output
        session.seal_output = lambda: (order.append("sealed"), seal())
        return session

    sandbox.open = spied
    judge.judge(add_one, "the source")
    assert order == [False, "sealed", True]


def test_reference_answers_are_kept_between_judges(add_one, tmp_path):
    loads = []

    class Counting(Table):
        def __call__(self, message, values):
            loads.append(message["op"])
            return super().__call__(message, values)

    for _ in range(2):
        Judge(NullSandbox(Counting(add_one, None)), b"s", tmp_path).prepare(add_one)
        loads.append("|")
    assert loads[-2:] == ["|", "|"]
    Judge(NullSandbox(Counting(add_one, None)), b"another secret", tmp_path).prepare(add_one)
    assert loads[-1] != "|"


def test_answers_that_were_cut_off_are_made_again(add_one, tmp_path):
    make = lambda: Judge(NullSandbox(Table(add_one, lambda x: {"result": x + 1})), b"s", tmp_path)  # noqa: E731
    make().prepare(add_one)
    for path in tmp_path.rglob("*.frame"):
        path.write_bytes(path.read_bytes()[:-3])
    assert make().judge(add_one, "the source").status == "accepted"
