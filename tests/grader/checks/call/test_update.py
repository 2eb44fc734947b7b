"""How often `update` is called, with which gradients and on which model. Nothing ran: the events are made up."""

from typing import Any

import numpy as np
import pytest

from grader.checks.call import update
from grader.checks.call_outcome import Answer, CallSubject, Outcome
from grader.core.case import Case


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def updated(**changes: Any) -> dict[str, Any]:
    return {"event": "update", "gradients": {"w": f32(1, 2)}, "model": "moved"} | changes


def finding_of(*events: dict[str, Any], expected: tuple[dict[str, Any], ...] = (updated(),), public: bool = True):
    outcome = Outcome(Case("case-1", public, {}), Answer(None, [*expected]), Answer(None, [*events]), None, None)
    return update.check(CallSubject([outcome], {}), update.Bounds())


@pytest.mark.parametrize(
    ("got", "expected", "text"),
    [
        (0, 1, "never called; expected one call."),
        (1, 2, "called once; expected 2 calls."),
        (2, 1, "called twice; expected one call."),
        (3, 1, "called 3 times; expected one call."),
        (1, 0, "called once; expected no call."),
    ],
)
def test_calls_are_counted(got: int, expected: int, text: str):
    message = finding_of(*[updated()] * got, expected=(updated(),) * expected).message
    assert message == f"case-1: optimizer.update was {text}"


def test_other_events_are_not_calls():
    assert finding_of({"event": "optimizer"}, updated()).passed


@pytest.mark.parametrize(("name", "passed"), [("w", True), ("layer/w", True), ("layer/vw", False)])
def test_a_model_may_wrap_the_layer(name: str, passed: bool):
    finding = finding_of(updated(gradients={name: f32(1, 2)}))
    assert finding.passed == passed
    assert passed or finding.message == "case-1: optimizer.update received no gradient for `w`."


def test_the_first_of_several_layers_counts():
    gradients = {"first/w": f32(1, 2), "second/w": f32(5, 5)}
    assert finding_of(updated(gradients=gradients)).passed


def test_every_gradient_has_to_be_right():
    expected = updated(gradients={"b": f32(1), "w": f32(1, 2)})
    finding = finding_of(updated(gradients={"b": f32(1), "w": f32(2, 4)}), expected=(expected,))
    assert "the wrong gradient for `w`: 2 of 2 elements differ" in finding.message


def test_a_hidden_case_does_not_reveal_its_gradient():
    finding = finding_of(updated(gradients={"w": f32(2, 4)}), public=False)
    assert finding.message.endswith("the wrong gradient for `w`: your result is twice the expected value.")


@pytest.mark.parametrize(
    ("reference", "mine", "passed"),
    [("moved", "moved", True), ("moved", "still", False), ("still", "still", True), ("still", "moved", True)],
)
def test_another_model_is_recognised_because_the_original_does_not_move(reference: str, mine: str, passed: bool):
    finding = finding_of(updated(model=mine), expected=(updated(model=reference),))
    assert finding.passed == passed
    assert passed or "received a different model" in finding.message


def test_a_wrong_gradient_is_reported_before_another_model():
    finding = finding_of(updated(model="still", gradients={"w": f32(2, 4)}))
    assert "the wrong gradient" in finding.message
