"""Which transform counts as the reference's, and how another one is described. Nothing ran: the events are made up."""

from typing import Any

import numpy as np
import pytest

from grader.checks.call import optimizer
from grader.checks.call_outcome import Answer, CallSubject, Outcome
from grader.core.case import Case
from grader.core.errors import GraderFault

Event = dict[str, Any]


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def built(**changes: Any) -> Event:
    facts = {"tx": "sgd", "momentum": False, "wrt": "Param", "lr": 0.1, "updates": {"0/w": f32(-0.1, -0.2)}}
    return {"event": "optimizer"} | facts | changes


def finding_of(*events: Event, expected: tuple[Event, ...] = (built(),), public: bool = True):
    outcome = Outcome(Case("public-1", public, {}), Answer(None, [*expected]), Answer(None, [*events]), None, None)
    return optimizer.check(CallSubject([outcome], {}), optimizer.Bounds())


def test_an_update_does_not_stand_for_the_references_optimizer():
    """The reference's first event may be an update of another optimizer."""
    update = built(event="update", updates={"0/w": f32(1, 1)})
    assert finding_of(built(), expected=(update, built())).passed
    with pytest.raises(GraderFault, match="needs a reference that builds"):
        finding_of(built(), expected=(update,))


def test_an_update_shows_how_the_submissions_optimizer_was_built():
    """Under jit it may have been built when an earlier case was traced."""
    assert finding_of(built(event="update")).passed


@pytest.mark.parametrize(
    ("name", "passed"), [("0/w", True), ("0/layer/w", True), ("1/w", False), ("0/v", False), ("1/layer/w", False)]
)
def test_a_model_may_wrap_the_layer(name: str, passed: bool):
    assert finding_of(built(updates={name: f32(-0.1, -0.2)})).passed == passed


@pytest.mark.parametrize(("second", "passed"), [(f32(-0.3), True), (f32(-0.4), False)], ids=["the same", "another"])
def test_every_update_has_to_be_the_same(second: np.ndarray, passed: bool):
    expected = built(updates={"0/w": f32(-0.1), "1/w": f32(-0.3)})
    assert finding_of(built(updates={"0/w": f32(-0.1), "1/w": second}), expected=(expected,)).passed == passed


def test_the_same_updates_of_other_parameters_are_another_optimizer():
    assert "not built with wrt=nnx.Param" in finding_of(built(wrt="All")).message


@pytest.mark.parametrize("updates", [None, {}], ids=["not a dict", "none"])
def test_an_optimizer_without_updates_is_another_one(updates: object):
    assert "does not behave like optax.sgd(lr)" in finding_of(built(updates=updates)).message


WRONG = {"updates": {"0/w": f32(1, 1)}}


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.1, "does not behave like optax.sgd(lr)"),
        (0.1 * (1 + 0.9e-6), "does not behave like optax.sgd(lr)"),
        (0.1 * (1 + 1.1e-6), "the wrong learning rate: expected 0.1, got 0.1000001."),
        (0.2, "the wrong learning rate: expected 0.1, got 0.2."),
        ("0.2", "the wrong learning rate: expected 0.1, got something other than a number."),
    ],
    ids=["the same", "rounded", "a little larger", "twice", "a text"],
)
def test_a_wrong_rate_is_named(rate: object, text: str):
    """A rate that went through a float32 array is no longer the same double."""
    assert text in finding_of(built(lr=rate, **WRONG)).message


@pytest.mark.parametrize(("rate", "wrong"), [(0.9e-12, False), (1.1e-12, True)])
def test_a_rate_of_zero_may_be_rounded(rate: float, wrong: bool):
    finding = finding_of(built(lr=rate, **WRONG), expected=(built(lr=0.0),))
    assert ("wrong learning rate" in finding.message) == wrong


def test_a_hidden_case_does_not_reveal_its_rate():
    assert "the wrong learning rate. Pass it" in finding_of(built(lr=0.2, **WRONG), public=False).message


def test_the_facts_of_another_transform_are_not_described_as_those_of_sgd():
    message = finding_of(built(tx="adam", momentum=True, lr=0.2, **WRONG)).message
    assert "does not behave like optax.sgd(lr)" in message


def test_a_momentum_is_named():
    assert "optax.sgd has a momentum" in finding_of(built(momentum=True, **WRONG)).message


def test_the_optimizer_that_was_built_last_is_described():
    assert "has a momentum" in finding_of(built(wrt="All", **WRONG), built(momentum=True, **WRONG)).message


def test_without_an_optimizer_there_is_nothing_to_describe():
    assert finding_of().message.startswith("public-1: no nnx.Optimizer was built.")
