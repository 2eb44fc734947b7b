import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.compare import compare, show
from grader.package.package import Tolerance
from grader.wire import Foreign


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def reason(expected: object, got: object) -> str | None:
    mismatch = compare(expected, got, {})
    return mismatch and mismatch.reason


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (f32(1), 1.0, "wrong_structure"),
        (f32(1), None, "wrong_structure"),
        (f32(1), [f32(1)], "wrong_structure"),
        ((f32(1),), [f32(1)], "wrong_structure"),
        ([f32(1)], [f32(1), f32(1)], "wrong_structure"),
        ([f32(1), f32(1)], [f32(1)], "wrong_structure"),
        ((f32(1),), (f32(1), f32(1)), "wrong_structure"),
        ([], [f32(1)], "wrong_structure"),
        ({"a": f32(1)}, {"a": f32(1), "b": f32(1)}, "wrong_structure"),
        ({"a": f32(1)}, {"b": f32(1)}, "wrong_structure"),
        (f32(1), Foreign("x.AlwaysEqual"), "wrong_structure"),
        (f32(1), np.asarray(1, np.float32), "wrong_shape"),
        (f32(1), f32(1).reshape(1, 1), "wrong_shape"),
        (f32(1), f32(), "wrong_shape"),
        (f32(1, 1), f32(1), "wrong_shape"),
        (f32(1), f32(1).astype(np.float64), "wrong_dtype"),
        (f32(1), f32(1).astype(ml_dtypes.bfloat16), "wrong_dtype"),
        (f32(1), np.asarray([1], np.int32), "wrong_dtype"),
        (np.asarray([1]), np.asarray([True]), "wrong_dtype"),
        (f32(1), f32(1.001), "wrong_value"),
        (f32(0), f32(1e-3), "wrong_value"),
        (np.asarray([2**53]), np.asarray([2**53 + 2]), "wrong_value"),
        (1.0, 2.0, "wrong_value"),
        (True, 1, "wrong_structure"),
        ("a", "b", "wrong_value"),
    ],
)
def test_each_difference_has_its_reason(expected, got, said):
    assert reason(expected, got) == said


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_or_infinity_never_matches_a_finite_expectation(bad):
    assert reason(f32(1, 2), f32(1, bad)) == "wrong_value"
    assert compare(f32(1), f32(bad), {"float32": Tolerance(rtol=1.0, atol=1e30)}) is not None


def test_the_same_infinity_and_an_expected_nan_match():
    assert reason(f32(np.inf, np.nan, -np.inf), f32(np.inf, np.nan, -np.inf)) is None
    assert reason(f32(np.inf), f32(-np.inf)) == "wrong_value"
    assert reason(f32(np.inf), f32(5)) == "wrong_value"
    assert reason(f32(np.nan), f32(1)) == "wrong_value"


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"),
    [
        ("float64", 1e-9, 1e-12),
        ("float32", 1e-5, 1e-6),
        ("float16", 1e-2, 1e-3),
        ("bfloat16", 5e-2, 1e-2),
        ("complex64", 1e-5, 1e-6),
        ("complex128", 1e-9, 1e-12),
    ],
)
def test_each_dtype_has_its_tolerance(dtype: str, rtol: float, atol: float):
    """An error at a large number stands for `rtol`, one at zero for `atol`; twice what is allowed is too much."""
    for number in (0.0, 64.0):
        expected = np.asarray([number]).astype(dtype)
        allowed = atol + rtol * number
        # What the dtype rounds such an error to is still within, or still without.
        assert reason(expected, np.asarray([number + 0.8 * allowed]).astype(dtype)) is None
        assert reason(expected, np.asarray([number + 2.0 * allowed]).astype(dtype)) == "wrong_value"
        assert reason(expected, np.asarray([number - 2.0 * allowed]).astype(dtype)) == "wrong_value"


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.asarray([1 + 1j], np.complex64), np.asarray([2 + 2j], np.complex64)),
        (f32(0, 0), f32(1, 1)),
        (f32(1, 2), f32(2, 2)),
        (f32(1, 0), f32(2, 1)),
    ],
    ids=["complex", "zeros", "another factor each", "where zero is expected"],
)
def test_what_is_no_common_mistake_has_no_kind(expected, got):
    mismatch = compare(expected, got, {})
    assert (mismatch.reason, mismatch.kind) == ("wrong_value", "your result has a wrong value")
    assert "Your result" not in mismatch.message


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint64", "bool"])
def test_integers_and_booleans_are_equal_or_wrong(dtype: str):
    assert reason(np.asarray([1], dtype), np.asarray([1], dtype)) is None
    assert reason(np.asarray([1], dtype), np.asarray([0], dtype)) == "wrong_value"


@given(st.floats(-1e6, 1e6, width=32), st.floats(-0.9, 0.9))
def test_inside_the_tolerance_passes_and_well_outside_does_not(expected, share):
    allowed = 1e-6 + 1e-5 * abs(expected)
    tolerances = {"float64": Tolerance(rtol=1e-5, atol=1e-6)}
    one = np.asarray([expected], np.float64)
    assert compare(one, one + share * allowed, tolerances) is None
    assert compare(one, one + np.copysign(1.1, share) * allowed, tolerances) is not None


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (8.0, "8 times"),
        (0.5, "half the"),
        (-1.0, "opposite sign"),
        (-2.0, "twice"),
        (0.0, "zero"),
        (np.nan, "NaN"),
        (np.inf, "infinity"),
    ],
)
def test_the_kind_of_a_wrong_value_reveals_no_value(factor, words):
    mismatch = compare(f32(1.25, -3.5), f32(1.25, -3.5) * np.float32(factor), {})
    assert words in mismatch.kind
    assert "1.25" not in mismatch.kind


def test_the_worst_element_is_named_with_its_index():
    expected = np.ones((3, 4), np.float32)
    got = expected.copy()
    got[1, 2], got[2, 3] = 1.5, 4.0
    mismatch = compare(expected, got, {})
    assert mismatch.difference.worst.index == [2, 3]
    assert "2 of 12 elements differ; the worst is [2, 3]: expected 1, got 4, relative error 3" in mismatch.message


def test_a_nan_is_the_worst_element():
    assert compare(f32(1, 2), f32(9, np.nan), {}).difference.worst.index == [1]


def test_the_path_of_a_leaf_is_named():
    expected = {"params": {"kernel": f32(1)}}
    assert compare(expected, {"params": {"kernel": f32(2)}}, {}).message.startswith("leaf params/kernel: ")


def test_large_arrays_are_shown_in_short():
    assert len(show(np.zeros((1000, 1000), np.float32))) < 800


def test_a_value_that_is_none_of_ours_is_shown_by_its_type():
    assert show(Foreign("x.Y")) == "a value of type x.Y"
