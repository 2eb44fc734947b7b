"""Compare what came back with what was expected: structure, then shape, then dtype, then values."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.evidence import Difference, Tolerances, ToleranceUsed, WorstElement
from grader.package.package import Tolerance
from grader.reasons import Reason
from grader.wire import Array, Foreign, leaves

# Room for another order of summation, far below any mistake in a formula: some 80 units in the last place.
DEFAULT_TOLERANCE: dict[str, Tolerance] = {
    "float64": Tolerance(rtol=1e-9, atol=1e-12),
    "float32": Tolerance(rtol=1e-5, atol=1e-6),
    "float16": Tolerance(rtol=1e-2, atol=1e-3),
    "bfloat16": Tolerance(rtol=5e-2, atol=1e-2),
    "complex64": Tolerance(rtol=1e-5, atol=1e-6),
    "complex128": Tolerance(rtol=1e-9, atol=1e-12),
}
_EXACT = Tolerance(rtol=0.0, atol=0.0)
_FACTORS = {float(2**k): f"{2**k} times" for k in range(1, 8)} | {1 / 2**k: f"1/{2**k} of" for k in range(1, 8)}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference. `kind` may be told of a hidden case, `message` and `difference` hold values."""

    reason: Reason
    kind: str
    message: str
    difference: Difference


def compare(expected: object, got: object, tolerances: dict[str, Tolerance]) -> Mismatch | None:
    """Return the first difference, or None where all leaves match.

    Args:
      expected, got: values as `wire.unpack_values` gives them.
      tolerances: by dtype name. A dtype that is not listed takes the default; integers and booleans must be equal.
    """
    structure = _compare_structure(expected, got, "")
    if structure is not None:
        return structure
    pairs = [(path, one, other) for (path, one), (_, other) in zip(leaves(expected), leaves(got), strict=True)]
    for compare_leaf in (_compare_shape, _compare_dtype):
        for path, one, other in pairs:
            if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
                mismatch = compare_leaf(path, one, other)
                if mismatch is not None:
                    return mismatch
    for path, one, other in pairs:
        mismatch = _compare_values(path, one, other, tolerances)
        if mismatch is not None:
            return mismatch
    return None


def tolerance_of(dtype: str, tolerances: dict[str, Tolerance]) -> Tolerance:
    return tolerances.get(dtype) or DEFAULT_TOLERANCE.get(dtype) or _EXACT


def tolerances_used(dtypes: Iterable[str], tolerances: dict[str, Tolerance]) -> Tolerances:
    """As evidence."""
    used = {name: tolerance_of(name, tolerances) for name in sorted(dtypes)}
    return Tolerances(by_dtype={name: ToleranceUsed(rtol=each.rtol, atol=each.atol) for name, each in used.items()})


def show(value: object, indent: int = 0) -> str:
    """A value as a person would want to read it: dtype, shape and at most some twenty elements.

    Args:
      indent: columns before the text, so that the rows of an array stand below one another.
    """
    if isinstance(value, np.ndarray):
        name = f"{value.dtype.name}{list(value.shape)}"
        if not value.size:
            return name
        prefix = " " * (indent + len(name) + 1)
        with np.printoptions(precision=7, threshold=24, edgeitems=3):
            return f"{name} {np.array2string(_readable(value), separator=', ', prefix=prefix)}"
    if isinstance(value, Foreign):
        return f"a value of type {value.type_name}"
    if isinstance(value, str):
        return repr(value[:200])
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {show(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(show(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return repr(value)


def _compare_structure(expected: object, got: object, path: str) -> Mismatch | None:
    if isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys():
        children = [(str(key), expected[key], got[key]) for key in expected]
    elif isinstance(expected, list | tuple) and type(expected) is type(got) and len(expected) == len(got):
        children = [(str(index), *pair) for index, pair in enumerate(zip(expected, got, strict=True))]
    elif type(expected) is type(got) and not isinstance(expected, dict | list | tuple):
        return None
    else:
        wanted, found = _name(expected), _name(got)
        return Mismatch(
            "wrong_structure",
            "the result has the wrong structure",
            f"{_at(path)}expected {wanted}, got {found}.{_structure_hint(expected, got)}",
            Difference(expected=wanted, got=found),
        )
    for name, one, other in children:
        mismatch = _compare_structure(one, other, f"{path}/{name}" if path else name)
        if mismatch is not None:
            return mismatch
    return None


def _compare_shape(path: str, expected: Array, got: Array) -> Mismatch | None:
    if expected.shape == got.shape:
        return None
    hint = ""
    if expected.size == got.size:
        hint = " The number of elements is right: give it the shape that is asked for."
    return Mismatch(
        "wrong_shape",
        "the result has the wrong shape",
        f"{_at(path)}expected shape {expected.shape}, got {got.shape}.{hint}",
        Difference(expected=str(expected.shape), got=str(got.shape)),
    )


def _compare_dtype(path: str, expected: Array, got: Array) -> Mismatch | None:
    if expected.dtype == got.dtype:
        return None
    hint = " NumPy makes float64 by default, JAX float32." if got.dtype == np.float64 else ""
    return Mismatch(
        "wrong_dtype",
        "the result has the wrong dtype",
        f"{_at(path)}expected dtype {expected.dtype.name}, got {got.dtype.name}.{hint}",
        Difference(expected=expected.dtype.name, got=got.dtype.name),
    )


def _compare_values(path: str, expected: object, got: object, tolerances: dict[str, Tolerance]) -> Mismatch | None:
    if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
        tolerance = tolerance_of(expected.dtype.name, tolerances)
        wanted, found = _wide(expected), _wide(got)
    elif isinstance(expected, float) and isinstance(got, float):
        tolerance = tolerance_of("float32", tolerances)
        wanted, found = np.asarray(expected), np.asarray(got)
    elif expected == got:
        return None
    else:
        shown = Difference(expected=show(expected), got=show(got))
        text = f"{_at(path)}expected {shown.expected}, got {shown.got}."
        return Mismatch("wrong_value", "the result has a wrong value", text, shown)
    with np.errstate(all="ignore"):
        error = np.abs(found - wanted)
        allowed = tolerance.atol + tolerance.rtol * np.abs(wanted)
        # Not `error > allowed`: NaN compares false either way, and a NaN from a submission must never pass. And of an
        # expected infinity the allowance is infinite, too, so it would let everything pass.
        close = np.isfinite(wanted) & (error <= allowed)
        close |= (wanted == found) | (np.isnan(wanted) & np.isnan(found))
        if bool(close.all()):
            return None
        excess = np.where(close, 0.0, np.nan_to_num(error / allowed, nan=math.inf))
        return _value_mismatch(path, expected, got, wanted, found, excess, tolerance)


def _value_mismatch(
    path: str, expected: object, got: object, wanted: Array, found: Array, excess: Array, tolerance: Tolerance
) -> Mismatch:
    """`excess` is 0 where an element is close enough, else its error in units of what is allowed."""
    worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
    index = tuple(int(part) for part in worst)
    one, other = wanted[worst], found[worst]
    relative = float(np.abs(other - one) / np.abs(one)) if one != 0 else math.inf
    kind = _kind(wanted, found)
    count = int(np.count_nonzero(excess))
    where = f"worst element {list(index)}: " if index else ""
    text = (
        f"{_at(path)}{count} of {excess.size} elements differ; {where}"
        f"expected {_number(one)}, got {_number(other)}, relative error {relative:.3g} "
        f"(allowed: {tolerance.atol:g} + {tolerance.rtol:g}·|expected|)."
    )
    if kind != _UNKNOWN:
        text += f" In short: {kind}."
    worst_element = WorstElement(
        index=list(index),
        expected=_number(one),
        got=_number(other),
        relative_error=relative if math.isfinite(relative) else None,
    )
    difference = Difference(expected=show(expected), got=show(got), worst=worst_element)
    return Mismatch("wrong_value", kind, text, difference)


_UNKNOWN = "the result has a wrong value"


def _kind(wanted: Array, found: Array) -> str:
    """What kind of mistake this looks like, in words that give no value away."""
    if np.isnan(found).any() and not np.isnan(wanted).any():
        return "the result holds NaN"
    if np.isinf(found).any() and not np.isinf(wanted).any():
        return "the result holds infinity"
    nonzero = wanted != 0
    if not nonzero.any() or np.iscomplexobj(wanted):
        return _UNKNOWN
    ratios = found[nonzero] / wanted[nonzero]
    ratio = float(np.median(ratios))
    if not np.allclose(ratios, ratio, rtol=1e-3, atol=0) or not np.allclose(found[~nonzero], 0, atol=1e-6):
        return _UNKNOWN
    for factor, words in _FACTORS.items():
        if math.isclose(abs(ratio), factor, rel_tol=1e-3):
            return f"the result is {words} the expected one" + (", with the opposite sign" if ratio < 0 else "")
    if math.isclose(ratio, -1.0, rel_tol=1e-3):
        return "the result has the opposite sign"
    if ratio == 0:
        return "the result is zero"
    return _UNKNOWN


def _wide(value: Array) -> Array:
    """The same numbers in a type in which differences are exact enough: float64, or complex128."""
    return value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)


def _readable(value: Array) -> Array:
    return value if value.dtype.kind in "biufc" else value.astype(np.float32)


def _number(value: Any) -> str:
    return f"{value:.8g}"


def _at(path: str) -> str:
    return f"leaf {path}: " if path else ""


def _name(value: object) -> str:
    match value:
        case None:
            return "None"
        case np.ndarray():
            return "an array"
        case Foreign():
            return f"a value of type {value.type_name}"
        case dict():
            return (
                "a dict with the keys " + ", ".join(repr(key)[:80] for key in list(value)[:8])
                if value
                else "an empty dict"
            )
        case list() | tuple():
            return f"a {type(value).__name__} of {len(value)}"
    return f"a Python {type(value).__name__}"


def _structure_hint(expected: object, got: object) -> str:
    if isinstance(expected, np.ndarray):
        if isinstance(got, bool | int | float):
            return " Wrap the number in an array."
        if got is None:
            return " Is a `return` missing?"
        if isinstance(got, list | tuple):
            return " Return the array alone."
    return ""
