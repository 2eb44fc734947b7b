"""Weights that decay by less than the tolerance, and differences of correct programs that only look like it."""

import numpy as np
import pytest

from grader.checks.program_subject import compare_runs
from grader.checks.weight_decay import decay_of
from grader.package.package import Tolerance
from grader.program.measurement import Run

RNG = np.random.default_rng(0)
START = RNG.standard_normal((40, 128)) * 0.16
# Adam moves every element by about the learning rate, in the direction of a gradient that knows nothing of the value.
UPDATE = 0.01 * np.sign(RNG.standard_normal(START.shape))
ROUNDING = 1e-8 * RNG.standard_normal(START.shape)


def mismatch(expected, got, start=START):
    start, expected, got = ({"w": np.asarray(each, np.float32)} for each in (start, expected, got))
    return decay_of(start, expected, got)


@pytest.mark.parametrize("steps", [1, 3])
def test_the_default_decay_of_adamw_shows_after_one_step(steps):
    expected = START - steps * UPDATE
    found = mismatch(expected, expected + ROUNDING - steps * 1e-6 * START)
    assert found is not None
    assert (found.reason, found.kind) == ("wrong_value", "your weights shrink and should not")
    assert f"by {steps}e-06 times their initial values" in found.message


def test_a_decay_that_is_missing():
    expected = START - UPDATE - 1e-6 * START
    found = mismatch(expected, START - UPDATE + ROUNDING)
    assert found is not None
    assert found.kind == "your weights should shrink and do not"


@pytest.mark.parametrize(
    ("start", "update", "apart"),
    [
        (START, UPDATE, 0),
        (START, UPDATE, ROUNDING),
        (START, UPDATE, 1e-6 * RNG.standard_normal(START.shape)),
        # A bias correction that is rounded in another way scales the update, here one towards zero.
        (START, 0.01 * np.sign(START), 3e-4 * 0.01 * np.sign(START)),
        (START, 0.3 * START, 1e-5 * START),
        (np.ones(64), 0.01 * np.ones(64), 1e-5 * np.ones(64)),
        (np.zeros(64), np.ones(64), 1e-6 * np.ones(64)),
        (START[0, :8], UPDATE[0, :8], 1e-5 * START[0, :8]),
    ],
    ids=["equal", "rounding", "noise", "scaled update", "update along", "all ones", "zeros", "a few elements"],
)
def test_what_is_not_decay(start, update, apart):
    assert mismatch(start - update, start - update - apart, start) is None


def test_other_dtypes_and_leaves_that_no_step_returns_are_left_out():
    before = {"counts": np.arange(64), "w": START.astype(np.float32)}
    assert decay_of(before, {"counts": np.arange(64)}, {"counts": np.arange(64)}) is None


def test_a_run_is_wrong_in_the_step_in_which_weights_have_shrunk():
    start = START.astype(np.float32)
    good, small = (start - UPDATE).astype(np.float32), (start - UPDATE - 1e-6 * start).astype(np.float32)
    expected, got = (Run({"w": start}, ({"w": start}, {"w": last}), ({}, {})) for last in (good, small))
    where, found = compare_runs(expected, got, {"float32": Tolerance(rtol=1e-4, atol=1e-6)})
    assert where == "after step 2"
    assert found is not None
    assert found.kind == "your weights shrink and should not"
