"""In call mode, each attempt has its own hidden inputs, and the same ones when it is graded again."""

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.core.errors import LostRunner, SubmissionFault
from grader.judging.judge import Judge
from grader.modes.call import hidden_cases
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox, NullSession
from grader.sandbox.protocol import Output
from tests.grader.shipped_submissions import package, slugs

NOTHING = Output(stdout="", stderr="", truncated=False)
PUBLIC = np.asarray([1.0, 2.0], np.float32)


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"within a minute: {what}"
        time.sleep(0.01)


class Runners:
    """Plays all runners. Hidden inputs show the key; `submission` is every source that is not the package's."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.opened = 0
        self.seen: list[float] = []
        self.submission: Any = lambda x: x + 1
        self.length = lambda key: 2

    def sandbox(self) -> NullSandbox:
        sandbox = NullSandbox(self._unused)
        sandbox.open = self._open  # type: ignore[method-assign]
        return sandbox

    def _unused(self, message: dict[str, Any], values: dict[str, object]) -> Any:
        raise AssertionError("no verifier is asked")

    def _open(self, spec: object, stop: object = None) -> NullSession:
        self.opened += 1
        loaded = ""

        def answer(message: dict[str, Any], values: dict[str, Any]) -> Any:
            nonlocal loaded
            if message["op"] == "load":
                loaded = message["source"]
            if message["op"] == "cases":
                return {"ok": True}, {"cases": [{"x": self._input(message["key"])}]}
            return {"ok": True}, {"result": self._result(loaded, values["args"][0]), "observed": []} if values else {}

        return NullSession(answer, NOTHING)

    def _input(self, key: str | None) -> np.ndarray:
        if key is None:
            return PUBLIC
        return np.full(self.length(key), float(int(key[:3], 16) + 10), np.float32)

    def _result(self, loaded: str, x: np.ndarray) -> object:
        if loaded == self.package.reference:
            return x + 1
        for known in self.package.rejected:
            if loaded == known.source:
                return x + 2 if "two" in known.source else x * 2
        self.seen.append(float(x[0]))
        return self.submission(x)


@pytest.fixture
def runners(add_one: Package) -> Runners:
    return Runners(add_one)


@pytest.fixture
def judge(runners: Runners, tmp_path, monkeypatch) -> Judge:
    """It draws nothing ahead, so that the calls of runners can be counted; see `far_sighted`."""
    monkeypatch.setattr(hidden_cases, "_AHEAD", 0)
    judge = Judge(runners.sandbox(), b"secret", tmp_path)
    judge.prepare(runners.package)
    return judge


def hidden_of(judge: Judge, runners: Runners, draw: str | None) -> float:
    runners.seen.clear()
    assert judge.judge(runners.package, "the source", draw=draw).status == "accepted"
    assert runners.seen[0] == PUBLIC[0]
    return runners.seen[1]


def test_an_attempt_has_inputs_of_its_own_and_the_same_ones_again(judge, runners):
    first, again, other, everybodys = (hidden_of(judge, runners, draw) for draw in ("a", "a", "b", None))
    assert first == again
    assert len({first, other, everybodys}) == 3


def test_without_the_secret_the_name_tells_nothing(judge, runners, tmp_path):
    elsewhere = Judge(runners.sandbox(), b"another", tmp_path)
    assert hidden_of(judge, runners, "a") != hidden_of(elsewhere, runners, "a")


def test_who_fails_in_public_is_graded_on_the_inputs_of_everybody(judge, runners):
    everybodys = hidden_of(judge, runners, None)
    runners.submission = lambda x: x + 2
    verdict = judge.judge(runners.package, "the source", draw="a")
    assert runners.seen[-1] == everybodys
    assert (verdict.status, verdict.misconception) == ("rejected", "You added two instead of one.")
    assert [case.id for case in verdict.cases] == ["public-1", "hidden-1"]


def test_a_value_that_is_wrong_for_the_attempts_own_input_only_is_wrong(judge, runners):
    runners.submission = lambda x: x + 1 if x[0] == PUBLIC[0] else x + 2
    verdict = judge.judge(runners.package, "the source", draw="a")
    assert (verdict.status, verdict.reason, verdict.misconception) == ("rejected", "wrong_value", None)
    assert [case.passed for case in verdict.cases] == [True, False]


def test_a_known_mistake_that_public_cases_do_not_show_is_named(judge, runners):
    """The reference runs on the attempt's own inputs, since its prepared answers are for others."""
    half_right = lambda x: x + 1 if x[0] == PUBLIC[0] else x * 2  # noqa: E731
    usual = runners._result
    runners._result = lambda loaded, x: half_right(x) if "x * 2" in loaded else usual(loaded, x)  # type: ignore[method-assign]
    runners.submission = half_right
    told = next(known.misunderstanding for known in runners.package.rejected if "x * 2" in known.source)
    assert judge.judge(runners.package, "the source", draw="a").misconception == told


def test_a_known_mistake_is_run_where_no_reference_will_answer(judge, runners):
    """It may switch to double precision, or patch JAX."""
    runners.submission = lambda x: x + 1 if x[0] == PUBLIC[0] else x * 2
    usual = runners._result
    runners._result = lambda loaded, x: runners.submission(x) if "x * 2" in loaded else usual(loaded, x)  # type: ignore[method-assign]
    judge.judge(runners.package, "the source", draw="a")
    (kept,) = judge._modes._draws._idle[runners.package.version]
    assert kept.uses == 2


def test_a_known_mistake_that_meets_a_limit_explains_nothing_and_harms_nobody(judge, runners):
    runners.submission = lambda x: x + 1 if x[0] == PUBLIC[0] else x * 2
    usual = runners._result

    def result(loaded: str, x: np.ndarray) -> object:
        if "x * 2" not in loaded:
            return usual(loaded, x)
        raise SubmissionFault("time_limit", "too long")

    runners._result = result  # type: ignore[method-assign]
    verdict = judge.judge(runners.package, "the source", draw="a")
    assert (verdict.reason, verdict.misconception) == ("wrong_value", None)


def test_one_runner_answers_one_attempt_after_the_other_and_is_let_go(judge, runners):
    hidden_of(judge, runners, "a")
    before = runners.opened
    hidden_of(judge, runners, "b")
    assert runners.opened == before + 1
    judge._modes._draws.let_go()
    hidden_of(judge, runners, "c")
    assert runners.opened == before + 3


def test_a_runner_that_died_while_it_waited_is_replaced(judge, runners):
    hidden_of(judge, runners, "a")
    (idle,) = judge._modes._draws._idle[runners.package.version]

    def dead(*args: object) -> Any:
        raise LostRunner("gone")

    idle.session.request = dead  # type: ignore[method-assign]
    assert hidden_of(judge, runners, "a")


def test_cases_of_another_form_are_the_graders_fault(judge, runners, caplog):
    runners.length = lambda key: 3
    assert judge.judge(runners.package, "the source", draw="a").status == "failed"
    assert "same number, arguments, shapes" in caplog.text


def test_a_reference_that_fails_on_the_attempts_inputs_is_the_graders_fault(judge, runners, caplog):
    usual = runners._result

    def result(loaded: str, x: np.ndarray) -> object:
        if loaded == runners.package.reference:
            raise SubmissionFault("error", "overflow", type="ValueError")
        return usual(loaded, x)

    runners._result = result  # type: ignore[method-assign]
    assert judge.judge(runners.package, "the source", draw="a").status == "failed"
    assert "reference.py failed on one attempt's cases: ValueError: overflow" in caplog.text


@pytest.mark.parametrize("slug", slugs("call"))
def test_draws_of_a_shipped_problem_have_one_form(slug):
    """So that warm programs serve all attempts alike."""
    made: dict[str, Any] = {}
    exec(compile(package(slug).cases, "cases.py", "exec"), made)
    forms = [
        [hidden_cases._form(case) for case in made["hidden_cases"](np.random.default_rng(seed))] for seed in range(20)
    ]
    assert all(form == forms[0] for form in forms)


@pytest.fixture
def far_sighted(judge: Judge, monkeypatch) -> Judge:
    """It draws for the attempts after each attempt."""
    monkeypatch.setattr(hidden_cases, "_AHEAD", 2)
    return judge


def next_draw(judge: Judge, runners: Runners) -> str:
    """The name that the judge has drawn inputs for. It draws while nothing is graded."""
    wait_for(lambda: len(ahead_of(judge, runners).free) == hidden_cases._AHEAD, "all are drawn")
    name = judge.next_draw(runners.package)
    assert name is not None
    return name


def ahead_of(judge: Judge, runners: Runners) -> Any:
    return judge._modes._draws._ahead[runners.package.identity]


def test_the_next_attempt_has_inputs_that_were_drawn_while_nothing_was_graded(far_sighted, runners):
    assert far_sighted.next_draw(runners.package) is None
    hidden_of(far_sighted, runners, "a")
    name = next_draw(far_sighted, runners)
    [case], _ = ahead_of(far_sighted, runners).draws[name]
    opened = runners.opened
    # While something is graded, nothing is drawn.
    with far_sighted._idle.interrupted():
        assert hidden_of(far_sighted, runners, name) == case.inputs["x"][0]
        # Only the submission's own runner.
        assert runners.opened == opened + 1


def test_they_are_the_inputs_that_the_name_gives_anywhere(far_sighted, runners, tmp_path):
    hidden_of(far_sighted, runners, "a")
    name = next_draw(far_sighted, runners)
    drawn = hidden_of(far_sighted, runners, name)
    elsewhere = Judge(runners.sandbox(), b"secret", tmp_path)
    assert hidden_of(elsewhere, runners, name) == drawn
    # And once more in the same process, which has used up what was drawn.
    assert hidden_of(far_sighted, runners, name) == drawn


def test_each_attempt_gets_another_name(far_sighted, runners):
    names = ["a"]
    for _ in range(2 * hidden_cases._AHEAD):
        hidden_of(far_sighted, runners, names[-1])
        names.append(next_draw(far_sighted, runners))
    assert len(set(names)) == len(names)
    # Each becomes the id of an attempt.
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names[1:])


def test_names_that_never_come_back_are_forgotten(far_sighted, runners):
    for attempt in "abcdefgh":
        hidden_of(far_sighted, runners, attempt)
        next_draw(far_sighted, runners)
    wait_for(lambda: len(ahead_of(far_sighted, runners).draws) <= 3 * hidden_cases._AHEAD, "few are left")


def test_a_draw_that_fails_is_tried_again_with_the_next_attempt(far_sighted, runners):
    runners.length = lambda key: 2 if key[0] in "01234567" else 3
    for attempt in range(99):
        far_sighted.judge(runners.package, "the source", draw=str(attempt))
        wait_for(lambda: not far_sighted._modes._draws._is_drawing_ahead, "it is drawn, or has failed")
        if len(ahead_of(far_sighted, runners).free) == hidden_cases._AHEAD:
            return
    raise AssertionError("nothing was drawn")
