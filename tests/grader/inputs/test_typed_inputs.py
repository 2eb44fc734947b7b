"""Typed inputs: which values fit a problem, and the message for each value that does not."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from grader.core.case import Case
from grader.core.errors import InputsUnfit
from grader.inputs.own_inputs import OwnInputs, typed_case
from grader.inputs.typed_inputs import form_of, read_typed
from grader.package.package import InputSpec

SPECS = {
    "x": InputSpec(dtype="float32", shape=["N", "D"]),
    "y": InputSpec(dtype="int32", shape=["N"]),
    "mask": InputSpec(dtype="bool", shape=[2]),
    "lr": InputSpec(dtype="float", least=0.0, most=10.0),
    "steps": InputSpec(dtype="int", least=1.0),
}


def test_they_have_the_dtype_and_the_shape_of_the_problem():
    found: dict[str, Any] = read_typed(SPECS, {"x": [[1, 2.5]], "y": [3], "mask": [True, False], "lr": 1, "steps": 2})
    assert (found["x"].dtype, found["x"].shape, found["y"].dtype) == (np.float32, (1, 2), np.int32)
    assert (found["mask"].dtype, found["lr"], type(found["lr"]), found["steps"]) == (np.bool_, 1.0, float, 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"z": 1}, "z: cannot be typed here. You can type x, y, mask, lr, steps."),
        ({"x": [1, 2]}, "x: must have 2 dimensions, not 1: float32, (N, D), such as [[1, 2], [3, 4]]."),
        ({"x": 1}, "x: must have 2 dimensions, not 0"),
        ({"y": [[1]]}, "y: must have 1 dimension, not 2: int32, (N,), such as [1, 2]."),
        ({"x": [[1], [1, 2]]}, "x: has rows of different lengths"),
        ({"x": []}, "x: is empty"),
        ({"x": [[0] * 257]}, "x: has 257 elements. At most 256 can be typed."),
        ({"x": [["a"]]}, "x: 'a' is not a number."),
        ({"x": [[True]]}, "x: True is not a number."),
        ({"x": [[1e300]]}, "x: 1e+300 is too large for float32."),
        ({"y": [1.5]}, "y: 1.5 is not a whole number."),
        ({"y": [2**31]}, "y: 2147483648 is too large for int32."),
        ({"mask": [1, 0]}, "mask: 1 is not true or false."),
        ({"mask": [True]}, "mask: has the shape (1,), but must be bool, (2,)."),
        ({"lr": 11}, "lr: 11 is not allowed: must be from 0 to 10."),
        ({"steps": 0}, "steps: 0 is not allowed: must be at least 1."),
        ({"x": [[1], [2]], "y": [1]}, "y: N is 1 here and 2 in x. Give both the same size."),
        ({"lr": "a", "steps": None}, "lr: 'a' is not a number. steps: None is not a number."),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_does_not_fit_is_named(values: dict[str, object], message: str):
    with pytest.raises(InputsUnfit) as refused:
        read_typed(SPECS, values)
    assert message in str(refused.value)


def test_a_list_within_lists_without_end_is_refused():
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises(InputsUnfit, match="nested too deeply"):
        read_typed(SPECS, {"x": deep})


@pytest.mark.parametrize(
    "fields", [{"dtype": "float32"}, {"dtype": "float", "shape": [2]}, {"dtype": "int", "shape": []}]
)
def test_a_number_has_no_shape_and_an_array_has_one(fields: dict[str, Any]):
    with pytest.raises(ValidationError):
        InputSpec(**fields)


def test_a_form_is_said_in_words():
    assert [form_of(each) for each in SPECS.values()] == [
        "float32, (N, D)",
        "int32, (N,)",
        "bool, (2,)",
        "a number from 0 to 10",
        "a whole number, at least 1",
    ]


def test_what_is_not_typed_is_drawn_in_the_size_of_what_is():
    public = {"x": np.ones((2, 3), np.float32), "y": np.asarray([5, 6], np.int32), "lr": 0.5, "steps": 4}
    hidden = Case("hidden-1", False, {})
    values = {"x": [[1, 2], [3, 4], [5, 6]], "lr": 2}
    (case,) = typed_case([Case("public-1", True, public), hidden], OwnInputs(3, None, values), SPECS)
    inputs: dict[str, Any] = case.inputs
    assert (case.id, list(inputs)) == ("own-1", ["x", "y", "lr", "steps"])
    assert (inputs["y"].shape, set(inputs["y"]) <= {5, 6}, inputs["lr"], inputs["steps"]) == ((3,), True, 2.0, 4)
