import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.checks.compare import compare, excess, in_digits, show
from grader.core.wire import Foreign, leaves
from grader.package.package import Tolerance


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


def test_a_dict_is_compared_by_its_keys():
    expected = {"left": f32(2), "right": f32(0)}
    assert compare(expected, {"right": f32(0), "left": f32(2)}, {}) is None
    mismatch = compare(expected, {"right": f32(2), "left": f32(0)}, {})
    assert mismatch is not None
    assert mismatch.message.startswith("leaf left: expected 2, got 0")


_TREES = st.recursive(
    st.integers(-9, 9).map(lambda number: f32(number)),
    lambda inner: st.one_of(
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def _with_keys_reversed(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _with_keys_reversed(tree[key]) for key in reversed(tree)}
    if isinstance(tree, list | tuple):
        return type(tree)(map(_with_keys_reversed, tree))
    return tree.copy()


@given(_TREES, st.data())
def test_the_order_of_keys_changes_nothing_and_a_changed_leaf_is_found_where_it_is(tree, data):
    other = _with_keys_reversed(tree)
    assert compare(tree, other, {}) is None
    assert excess(tree, other, {}) == 0
    if not (found := list(leaves(other))):
        return
    path, leaf = data.draw(st.sampled_from(found))
    leaf += 1
    mismatch = compare(tree, other, {})
    assert mismatch is not None
    assert mismatch.message.startswith(f"leaf {path}: " if path else "expected")
    assert excess(tree, other, {}) > 1


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
        (f32(1, 2, 4), f32(2, 4, 4)),
    ],
    ids=["complex", "zeros", "another factor each", "where zero is expected", "another factor once"],
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


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.arange(24), "int64[24] [ 0,  1,"),
        (np.arange(25), "int64[25] [ 0,  1,  2, ..., 22, 23, 24]"),
        (np.asarray([1 / 3]), "float64[1] [0.3333333]"),
        (np.asarray([1, 2], ml_dtypes.bfloat16), "bfloat16[2] [1., 2.]"),
        (1 / 3, "0.3333333"),
        ("a" * 201, repr("a" * 200)),
        ({"a": 1.0, "b": [2.0, None]}, "{'a': 1, 'b': [2, None]}"),
        ((1,), "(1,)"),
        ((1, 2), "(1, 2)"),
    ],
    ids=["24 elements", "25 elements", "array", "bfloat16", "float", "text", "dict", "tuple of one", "tuple of two"],
)
def test_a_value_is_shown_as_a_person_would_write_it(value: object, text: str):
    shown = show(value)
    assert shown.startswith(text)
    assert shown == text or "..." not in shown


def test_the_rows_of_an_array_line_up():
    rows = np.arange(4, dtype=np.float32).reshape(2, 2)
    assert show(rows) == "float32[2, 2] [[0., 1.],\n               [2., 3.]]"
    assert show(rows, indent=5) == "float32[2, 2] [[0., 1.],\n                    [2., 3.]]"


@pytest.mark.parametrize(
    ("expected", "got", "shown"),
    [
        (1.23456, 1.76543, ("1.23", "1.77")),
        (1.0049, 1.0151, ("1.005", "1.015")),
        (1.23456781, 1.23456789, ("1.2345678", "1.2345679")),
        (1.23456, 1.23456, ("1.23", "1.23")),
        (1.23456, np.inf, ("1.23", "inf")),
        (123457.0, 234569.0, ("123457", "234569")),
        (2.0, 123456.7, ("2", "1.23e+05")),
        (123456.7, 2.0, ("1.23e+05", "2")),
        (1 + 1j, 2 + 2j, ("1+1j", "2+2j")),
    ],
)
def test_two_numbers_have_the_digits_that_show_how_far_apart_they_are(expected, got, shown):
    assert in_digits(np.asarray(expected)[()], np.asarray(got)[()]) == shown


FACTORS = {
    2.0: "twice",
    **{float(number): f"{number} times" for number in (4, 8, 16, 32, 64, 128)},
    **{0.5: "half", 0.25: "a quarter of", 0.125: "an eighth of", 0.0625: "a sixteenth of"},
    **{1 / number: f"1/{number} times" for number in (32, 64, 128)},
}


@pytest.mark.parametrize(("factor", "words"), FACTORS.items())
def test_each_power_of_two_is_named(factor: float, words: str):
    assert compare(f32(1.25, -3.5), f32(1.25, -3.5) * np.float32(factor), {}).kind == (
        f"your result is {words} the expected value"
    )


@pytest.mark.parametrize("factor", [3.0, 256.0, 1 / 256, 2.01, 0.51])
def test_another_factor_is_not_named(factor: float):
    assert compare(f32(1.25, -3.5), f32(1.25, -3.5) * np.float32(factor), {}).kind == "your result has a wrong value"


def test_a_wrong_structure_below_the_top_is_found_and_named():
    found = compare({"a": {"b": f32(1)}, "c": f32(1)}, {"a": {"b": 1.0}, "c": f32(1)}, {})
    assert (found.reason, found.message) == (
        "wrong_structure",
        "leaf a/b: expected an array, got a Python float. Wrap the number in an array.",
    )


def test_an_error_as_large_as_the_tolerance_is_allowed():
    assert compare(f32(1), f32(1.5), {"float32": Tolerance(rtol=0.0, atol=0.5)}) is None


def test_the_worst_element_is_the_furthest_outside_its_tolerance():
    """Not the one with the largest error, which is allowed more."""
    assert compare(f32(1, 1000), f32(1.5, 1100), {}).difference.worst.index == [0]


@pytest.mark.parametrize(
    ("expected", "got", "message"),
    [
        (f32(1), 1.0, "expected an array, got a Python float. Wrap the number in an array."),
        (f32(1), None, "expected an array, got None. Is a `return` missing?"),
        (f32(1), [f32(1)], "expected an array, got a list of 1 item. Return the array itself."),
        (f32(1), (f32(1), f32(1)), "expected an array, got a tuple of 2 items. Return the array itself."),
        (f32(1), {}, "expected an array, got an empty dict."),
        (f32(1), {"a": 1}, "expected an array, got a dict with the key 'a'."),
        (1.0, None, "expected a Python float, got None."),
        (f32(1), Foreign("x.Y"), "expected an array, got a value of type x.Y."),
        (
            f32(1),
            Foreign("array of dtype uint4"),
            "expected an array, got a value of type array of dtype uint4. Its dtype is uint4, which is not among the "
            "dtypes that can be returned. Return uint8: `leaf.astype('uint8')`.",
        ),
    ],
)
def test_a_wrong_structure_is_named_with_a_hint(expected: object, got: object, message: str):
    assert compare(expected, got, {}).message == message


SPREAD = np.random.default_rng(0).standard_normal(64).astype(np.float32)
NEAR = {"float32": Tolerance(rtol=1e-5, atol=0)}


ROUNDED = SPREAD.astype(ml_dtypes.bfloat16).astype(np.float32)
DRIFTED = (SPREAD * np.linspace(0.96, 1.04, 64, dtype=np.float32)).astype(ml_dtypes.bfloat16).astype(np.float32)


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (ROUNDED, "at most 2**-8 of each number, so something was rounded to bfloat16"),
        (
            SPREAD.astype(np.float16).astype(np.float32),
            "at most 2**-11 of each number, so something was rounded to float16",
        ),
        # Rounded on the way: the numbers themselves have all bits.
        (ROUNDED * np.float32(1.00001), "something was rounded to bfloat16"),
        # Rounded again and again.
        (DRIFTED, "your result was rounded to bfloat16"),
        (SPREAD * np.float32(1.002), "your result has a wrong value"),
        (SPREAD + np.float32(0.01), "your result has a wrong value"),
        (ROUNDED[:4], "your result has a wrong value"),
    ],
    ids=["bfloat16", "float16", "on the way", "many times", "factor", "offset", "few"],
)
def test_rounding_to_a_narrower_dtype_is_recognized(got: np.ndarray, said: str):
    mismatch = compare(SPREAD[: len(got)], got, NEAR)
    assert mismatch is not None
    assert said in mismatch.kind


def test_numbers_of_a_narrow_dtype_are_expected_to_be_rounded():
    wanted = SPREAD.astype(ml_dtypes.bfloat16)
    got = np.nextafter(SPREAD, 2).astype(ml_dtypes.float8_e4m3fn).astype(ml_dtypes.bfloat16)
    mismatch = compare(wanted, got, {"bfloat16": NEAR["float32"]})
    assert mismatch is not None
    assert mismatch.kind == "your result has a wrong value"


def test_eight_keys_are_named_each_by_its_first_80_characters():
    keys = [f"{number}{'k' * 100}" for number in range(9)]
    shown = [f"'{key[:79]}" for key in keys[:8]]
    assert compare(f32(1), dict.fromkeys(keys, 1), {}).message == (
        f"expected an array, got a dict with the keys {', '.join(shown[:-1])} and {shown[-1]}."
    )


def test_the_excess_is_above_one_exactly_where_compare_finds_a_difference():
    values = [0.0, 1.0, 1.00001, 1.1, -1.0, np.nan, np.inf, -np.inf]
    for one, other in itertools.product(values, values):
        for expected, got in (
            (np.asarray([one], np.float32), np.asarray([other], np.float32)),
            (one, other),
            ({"a": [np.asarray(one)]}, {"a": [np.asarray(other)]}),
        ):
            assert (excess(expected, got, {}) > 1) == (compare(expected, got, {}) is not None), (expected, got)


def test_the_excess_is_the_largest_error_in_units_of_the_allowed_one():
    tolerances = {"float32": Tolerance(rtol=0.0, atol=0.1)}
    one = np.asarray([1.0, 2.0], np.float32)
    assert excess(one, one + np.asarray([0.05, -0.2], np.float32), tolerances) == pytest.approx(2.0, rel=1e-4)
    assert excess(np.asarray([], np.float32), np.asarray([], np.float32), tolerances) == 0.0


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.ones(2), np.ones(3)),
        (np.ones(2), np.ones(2, np.float32)),
        ({"a": np.ones(2)}, {"b": np.ones(2)}),
        (np.ones(2), None),
        (3, 4),
        (np.asarray([3]), np.asarray([4])),
    ],
)
def test_the_excess_of_another_form_or_an_exact_value_is_infinite(expected, got):
    assert excess(expected, got, {}) == math.inf


def test_numbers_that_were_rounded_to_bfloat16_within_the_tolerance():
    values = np.random.default_rng(0).standard_normal((4, 16)).astype(np.float32) / 100
    rounded = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    wide = {"float32": Tolerance(rtol=1e-4, atol=2.5e-4)}
    found = compare({"momentum": values}, {"momentum": rounded}, wide)
    assert found is not None
    assert (found.reason, found.kind) == ("wrong_value", "your result was rounded to bfloat16")
    assert found.message.startswith("leaf momentum: every element is a bfloat16 number, whose last 16 bits are 0.")
    # One number has all of its digits.
    rounded[0, 0] = values[0, 0]
    assert compare({"momentum": values}, {"momentum": rounded}, wide) is None


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (f32(*[1.5] * 20), f32(*[1.5] * 20)),
        # Sums that one order rounds and another one does not.
        (f32(*[np.nextafter(f32(k), f32(0))[0] for k in range(1, 30)]), f32(*range(1, 30))),
        (f32(*[0.5001] * 20), f32(*[0.5] * 20)),
        (f32(0.1001, 0.2001, 0.3001), f32(0.1001, 0.2001, 0.3001).astype(ml_dtypes.bfloat16).astype(np.float32)),
        (np.asarray(0.3, np.float32), np.asarray(0.3, np.float32)),
        (f32(), f32()),
    ],
    ids=["rounded as expected", "whole numbers", "one value", "a few", "a scalar", "nothing"],
)
def test_bfloat16_numbers_that_may_be_so_by_chance(expected, got):
    assert compare(expected, got, {"float32": Tolerance(rtol=1e-2, atol=0)}) is None
