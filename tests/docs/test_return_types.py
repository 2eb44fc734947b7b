"""What docs/problems.md says a function can return in call mode, and how it is compared, is what the code does."""

import collections
import dataclasses
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from flax import nnx

from grader.checks.compare import DEFAULT_TOLERANCE, compare
from grader.core import wire
from grader.package.package import Tolerance
from grader.runner.serve import _to_host
from tests.docs.test_facts import PROBLEMS

SECTION = PROBLEMS.partition("### What a function can return\n")[2].partition("\n### ")[0]
TOLERANCES = PROBLEMS.partition("### `[tolerance.<dtype>]`\n")[2].partition("\n### ")[0]
FLOATS = ["float64", "float32", "float16", "bfloat16", "complex64", "complex128"]
EIGHT_BITS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"]


class Pair(NamedTuple):
    one: Any
    other: Any


@dataclasses.dataclass
class Record:
    one: Any


def received(value: object) -> object:
    """A result as the judge receives it."""
    data = wire.pack({}, {"result": _to_host(value)})
    size, _ = wire.unpack_header(data[: wire.HEADER.size], max_payload_bytes=1 << 20)
    rest = data[wire.HEADER.size :]
    message = wire.unpack_manifest(rest[:size], payload_bytes=len(rest) - size)
    return wire.unpack_values(message, rest[size:])["result"]


def verdict(expected: object, got: object, tolerances: dict[str, Tolerance] | None = None) -> str | None:
    mismatch = compare(received(expected), received(got), tolerances or {})
    return mismatch and mismatch.reason


def array(dtype: str, *values: float) -> np.ndarray:
    return np.asarray(values).astype(wire.DTYPES[dtype])


def returnable() -> dict[str, list[str]]:
    """The first column of the table of what can be returned, with its head: each row with its code."""
    table = SECTION.partition("\n| not among them")[0]
    return {row: re.findall(r"`([^`]+)`", row) for row in re.findall(r"^\| (an? [^|]*?) \|", table, re.MULTILINE)}


def test_every_dtype_that_crosses_is_in_the_table() -> None:
    named = {name for row in returnable().values() for name in row if name in wire.DTYPES}
    whole = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    assert {"int8", "int64", "uint8", "uint64"} < named
    assert named | whole == set(wire.DTYPES)
    floats, eight_bits = list(returnable().values())[1:3]
    assert (floats, eight_bits) == (FLOATS, EIGHT_BITS)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_compared_within_their_tolerance(dtype: str) -> None:
    rtol = DEFAULT_TOLERANCE[dtype].rtol
    assert verdict(array(dtype, 1), array(dtype, 1 + rtol / 2)) is None
    assert verdict(array(dtype, 1), array(dtype, 1 + 4 * rtol)) == "wrong_value"
    assert verdict(array(dtype, 1), array(dtype, 1, 1)) == "wrong_shape"


@pytest.mark.parametrize("dtype", [*EIGHT_BITS, *(each for each in wire.DTYPES if "int" in each)])
def test_other_numbers_are_exact_unless_a_tolerance_says_otherwise(dtype: str) -> None:
    assert verdict(array(dtype, 4), array(dtype, 4)) is None
    assert verdict(array(dtype, 4), array(dtype, 5)) == "wrong_value"
    assert verdict(array(dtype, 4), array(dtype, 5), {dtype: Tolerance(rtol=0, atol=1)}) is None


@pytest.mark.parametrize(
    ("expected", "got", "reason"),
    [
        (1.0, 1 + 5e-6, None),
        (1.0, 1 + 5e-5, "wrong_value"),
        (1.0, jnp.float32(1), "wrong_structure"),
        (1.0, 1, "wrong_structure"),
        (-(2**63), -(2**63), None),
        (2**64 - 1, 2**64 - 1, None),
        (1, 2, "wrong_value"),
        (1, True, "wrong_structure"),
        (True, False, "wrong_value"),
        ("a", "a", None),
        ("a", "b", "wrong_value"),
        (None, None, None),
        (None, 0, "wrong_structure"),
        ([1, 2], [1, 2], None),
        ([1, 2], (1, 2), "wrong_structure"),
        ([1, 2], [1], "wrong_structure"),
        ([1, 2], [2, 1], "wrong_value"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": 1}, {"b": 1}, "wrong_structure"),
        (array("bool", 1), array("bool", 0), "wrong_value"),
        (jnp.ones(2), np.ones(2, np.float32), None),
        (np.float32(1), jnp.float32(1), None),
    ],
)
def test_python_values_and_containers(expected: object, got: object, reason: str | None) -> None:
    assert verdict(expected, got) == reason


# The rows of the table of what cannot be returned: a value, and what the row says to return instead.
REFUSED: dict[str, tuple[object, Callable[[Any], object]]] = {
    "a Python `complex`": (1 + 2j, jnp.asarray),
    "a `NamedTuple`": (Pair(1, 2), lambda value: [tuple(value), value._asdict()]),
    "a dataclass": (Record(jnp.ones(2)), dataclasses.asdict),
    "an `nnx.State`": (nnx.state(nnx.Linear(2, 2, rngs=nnx.Rngs(0))), nnx.to_pure_dict),
    "an `nnx.Param`, or another variable of nnx": (nnx.Param(jnp.ones(2)), lambda value: value[...]),
    "an array of PRNG keys": (jax.random.key(0), jax.random.key_data),
    "an array of `int4`, or of another dtype that is not above": (
        jnp.ones(2, ml_dtypes.int4),
        lambda value: value.astype("int8"),
    ),
    "a `dict` with keys that are not strings": ({1: 2}, lambda value: {str(key): each for key, each in value.items()}),
    "an `OrderedDict`, or another subclass of `dict`, `list` or `tuple`": (collections.OrderedDict(a=1), dict),
    "a `set`": ({2, 1}, sorted),
}


def test_the_table_of_what_cannot_be_returned_has_these_rows() -> None:
    table = SECTION.partition("| not among them")[2]
    assert re.findall(r"^\| (an? [^|]*?) \|", table, re.MULTILINE) == list(REFUSED)


@pytest.mark.parametrize("row", REFUSED)
def test_what_cannot_be_returned_has_a_substitute_that_can(row: str) -> None:
    value, substitute = REFUSED[row]
    assert any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(received(value)))
    assert not any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(received(substitute(value))))


@pytest.mark.parametrize("number", [-(2**63) - 1, 2**64])
def test_larger_numbers_cannot_be_returned(number: int) -> None:
    assert isinstance(received(number), wire.Foreign)


def test_the_limits_of_a_result_are_those_of_the_wire() -> None:
    assert f"nested up to {wire.MAX_DEPTH} deep, with at most {wire.MAX_NODES:,} values" in SECTION


def test_the_default_tolerances_are_those_that_are_listed() -> None:
    listed = {}
    for names, rtol, atol in re.findall(r"^\| (`[^|]+`) \| ([\de.-]+) \| ([\de.-]+) \|", TOLERANCES, re.MULTILINE):
        tolerance = Tolerance(rtol=float(rtol), atol=float(atol))
        listed |= dict.fromkeys(re.findall(r"`([^`]+)`", names), tolerance)
    assert listed == DEFAULT_TOLERANCE
