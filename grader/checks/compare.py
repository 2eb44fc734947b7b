"""Compare a result with the expected one: structure, then shape, then dtype, then values."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from grader.core.reasons import Reason
from grader.core.wire import FOREIGN_DTYPE, Array, Foreign, unsendable
from grader.package.package import Tolerance, ToleranceTable
from grader.verdicts.evidence import (
    Difference,
    OutputTolerance,
    OutputTolerances,
    ShapePair,
    Tolerances,
    ToleranceUsed,
    WorstElement,
)

# These allow another order of summation (about 80 units in the last place), but no mistake in a formula.
DEFAULT_TOLERANCE: dict[str, Tolerance] = {
    "float64": Tolerance(rtol=1e-9, atol=1e-12),
    "float32": Tolerance(rtol=1e-5, atol=1e-6),
    "float16": Tolerance(rtol=1e-2, atol=1e-3),
    "bfloat16": Tolerance(rtol=5e-2, atol=1e-2),
    "complex64": Tolerance(rtol=1e-5, atol=1e-6),
    "complex128": Tolerance(rtol=1e-9, atol=1e-12),
}
_EXACT = Tolerance(rtol=0.0, atol=0.0)
# This many random float32 numbers happen to be bfloat16 numbers once in 2**128 times. Rounding moves most of them
# further than another order of summation would.
_LEAST_ROUNDED = 8
_MOVED_BY_ROUNDING = 2.0**-14
_FACTORS = {
    2.0: "twice",
    **{float(2**k): f"{2**k} times" for k in range(2, 8)},
    1 / 2: "half",
    1 / 4: "a quarter of",
    1 / 8: "an eighth of",
    1 / 16: "a sixteenth of",
    **{1 / 2**k: f"1/{2**k} times" for k in range(5, 8)},
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference. `kind` may be shown for a hidden case; `message` and `difference` contain values."""

    reason: Reason
    kind: str
    message: str
    difference: Difference

    @property
    def headline(self) -> str:
        """The kind as a sentence."""
        return f"{self.kind[0].upper()}{self.kind[1:]}."


def compare(expected: object, got: object, tolerances: dict[str, Tolerance]) -> Mismatch | None:
    """Return the first difference, or None if all leaves match.

    Args:
      expected, got: values as `wire.unpack_values` returns them.
      tolerances: by dtype name; in a `ToleranceTable`, some outputs have their own. A dtype that is not listed uses
        the default; integers and booleans must be equal.
    """
    form = compare_form(expected, got)
    if form is not None:
        return form
    for path, one, other in _paired_leaves(expected, got):
        mismatch = _compare_values(path, one, other, tolerances)
        if mismatch is not None:
            return mismatch
    return None


def compare_form(expected: object, got: object) -> Mismatch | None:
    """Compare like `compare`, but only structure, shapes and dtypes."""
    structure = _compare_structure(expected, got, "")
    if structure is not None:
        return structure
    pairs = list(_paired_leaves(expected, got))
    for compare_leaf in (_compare_shape, _compare_dtype):
        for path, one, other in pairs:
            if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
                mismatch = compare_leaf(path, one, other)
                if mismatch is not None:
                    return mismatch
    return None


def excess(expected: object, got: object, tolerances: dict[str, Tolerance], path: str = "") -> float:
    """Return the largest error, divided by the allowed error. It is infinite for any difference that is not an error.

    `compare` reports a difference if this exceeds 1.

    Args:
      path: where these values are in the result.
    """
    if _compare_structure(expected, got, "") is not None:
        return math.inf
    worst = 0.0
    for leaf_path, one, other in _paired_leaves(expected, got, path):
        if not isinstance(one, np.ndarray | float):
            if one != other:
                return math.inf
            continue
        wanted, found = np.asarray(one), np.asarray(other)
        if _compare_shape(leaf_path, wanted, found) or _compare_dtype(leaf_path, wanted, found):
            return math.inf
        tolerance = tolerance_of("float32" if isinstance(one, float) else wanted.dtype.name, tolerances, leaf_path)
        wanted, found = _wide(wanted), _wide(found)
        with np.errstate(all="ignore"):
            error = np.abs(found - wanted) / (tolerance.atol + tolerance.rtol * np.abs(wanted))
            same = (wanted == found) | (np.isnan(wanted) & np.isnan(found))
            # 0 / 0 if an equal value is required and found; infinite if a value is not finite.
            error = np.where(same, 0.0, np.nan_to_num(error, nan=math.inf, posinf=math.inf))
            error = np.where(same | np.isfinite(wanted), error, math.inf)
        worst = max(worst, float(error.max(initial=0.0)))
    return worst


def tolerance_of(dtype: str, tolerances: dict[str, Tolerance], path: str = "") -> Tolerance:
    """The tolerance of an output of this dtype, at this path of the result."""
    if isinstance(tolerances, ToleranceTable):
        tolerances = tolerances.at(path)
    return tolerances.get(dtype) or DEFAULT_TOLERANCE.get(dtype) or _EXACT


def tolerances_used(
    outputs: Iterable[tuple[str, object]], tolerances: dict[str, Tolerance]
) -> list[Tolerances | OutputTolerances]:
    """The tolerance of each dtype and, if outputs have their own, of these outputs, as evidence.

    Args:
      outputs: the paths and leaves of expected results.
    """
    arrays = {(path, leaf.dtype.name) for path, leaf in outputs if isinstance(leaf, np.ndarray)}
    used = {name: tolerance_of(name, {**tolerances}) for name in sorted({name for _, name in arrays})}
    found: list[Tolerances | OutputTolerances] = [
        Tolerances(by_dtype={name: ToleranceUsed(rtol=each.rtol, atol=each.atol) for name, each in used.items()})
    ]
    own = [(path, name, tolerance_of(name, tolerances, path)) for path, name in sorted(arrays)]
    rows = [
        OutputTolerance(output=path, dtype=name, rtol=each.rtol, atol=each.atol)
        for path, name, each in own
        if each is not used[name]
    ]
    return [*found, OutputTolerances(outputs=rows)] if rows else found


def show(value: object, indent: int = 0) -> str:
    """Format a value for a person: dtype, shape and about twenty elements at most.

    Args:
      indent: columns before the text, so that the rows of an array line up.
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
    return f"{value:.7g}" if isinstance(value, float) else repr(value)


def in_digits(expected: Any, got: Any) -> tuple[str, str]:
    """Format two numbers with three significant digits, or as many as it takes to show how far apart they are."""
    difference = got - expected
    integers = np.isrealobj(difference) and expected % 1 == 0 and got % 1 == 0
    for digits in range(8 if integers else 3, 9):
        texts = f"{expected:.{digits}g}", f"{got:.{digits}g}"
        shown = complex(texts[1]) - complex(texts[0])
        if not np.isfinite(difference) or abs(shown - difference) <= 0.1 * abs(difference):
            break
    return texts


def _paired_leaves(expected: object, got: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Yield (leaf path, leaf, leaf) for two values of equal structure.

    Dicts are paired by key, not by order: `jax.jit` and `shard_map` sort the keys of what they return.
    """
    for name, one, other in _paired_children(expected, got):
        yield from _paired_leaves(one, other, f"{path}/{name}" if path else name)
    if not isinstance(expected, dict | list | tuple):
        yield path, expected, got


def _paired_children(expected: object, got: object) -> list[tuple[str, object, object]]:
    """Return the names and children of two containers with the same keys or length. A leaf has no children."""
    if isinstance(expected, dict) and isinstance(got, dict):
        return [(str(key), expected[key], got[key]) for key in expected]
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return [(str(index), *pair) for index, pair in enumerate(zip(expected, got, strict=True))]
    return []


def _compare_structure(expected: object, got: object, path: str) -> Mismatch | None:
    if isinstance(expected, dict) and isinstance(got, dict):
        alike = expected.keys() == got.keys()
    elif isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        alike = type(expected) is type(got) and len(expected) == len(got)
    else:
        alike = type(expected) is type(got)
    if not alike:
        wanted, found = _name(expected), _name(got)
        return Mismatch(
            "wrong_structure",
            "your result has the wrong structure",
            f"{_at(path)}expected {wanted}, got {found}.{_structure_hint(expected, got)}",
            Difference(expected=wanted, got=found),
        )
    for name, one, other in _paired_children(expected, got):
        mismatch = _compare_structure(one, other, f"{path}/{name}" if path else name)
        if mismatch is not None:
            return mismatch
    return None


def _compare_shape(path: str, expected: Array, got: Array) -> Mismatch | None:
    if expected.shape == got.shape:
        return None
    hint = ""
    if expected.size == got.size:
        hint = " The number of elements is right, so only the shape has to change."
    return Mismatch(
        "wrong_shape",
        "your result has the wrong shape",
        f"{_at(path)}expected shape {expected.shape}, got {got.shape}.{hint}",
        Difference(
            expected=str(expected.shape),
            got=str(got.shape),
            shapes=ShapePair(leaf=path, expected=expected.shape, got=got.shape),
        ),
    )


def _compare_dtype(path: str, expected: Array, got: Array) -> Mismatch | None:
    if expected.dtype == got.dtype:
        return None
    hint = " NumPy defaults to float64, JAX to float32." if got.dtype == np.float64 else ""
    return Mismatch(
        "wrong_dtype",
        "your result has the wrong dtype",
        f"{_at(path)}expected dtype {expected.dtype.name}, got {got.dtype.name}.{hint}",
        Difference(expected=expected.dtype.name, got=got.dtype.name),
    )


def _compare_values(path: str, expected: object, got: object, tolerances: dict[str, Tolerance]) -> Mismatch | None:
    if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
        # Most leaves of a right submission are equal to the last bit, and need no tolerance.
        if np.array_equal(expected, got):
            return None
        tolerance = tolerance_of(expected.dtype.name, tolerances, path)
        wanted, found = _wide(expected), _wide(got)
    elif isinstance(expected, float) and isinstance(got, float):
        tolerance = tolerance_of("float32", tolerances, path)
        wanted, found = np.asarray(expected), np.asarray(got)
    elif expected == got:
        return None
    else:
        shown = Difference(expected=show(expected), got=show(got))
        text = f"{_at(path)}expected {shown.expected}, got {shown.got}."
        return Mismatch("wrong_value", _UNKNOWN, text, shown)
    with np.errstate(all="ignore"):
        error = np.abs(found - wanted)
        allowed = tolerance.atol + tolerance.rtol * np.abs(wanted)
        # Not `error > allowed`: every comparison with NaN is false, and a NaN from a submission must never pass. An
        # expected infinity makes the allowance infinite, so any value would pass.
        close = np.isfinite(wanted) & (error <= allowed)
        close |= (wanted == found) | (np.isnan(wanted) & np.isnan(found))
        if bool(close.all()):
            return _narrowed(path, expected, got)
        excess = np.where(close, 0.0, np.nan_to_num(error / allowed, nan=math.inf))
        return _value_mismatch(path, expected, got, wanted, found, excess, tolerance)


def _value_mismatch(
    path: str, expected: object, got: object, wanted: Array, found: Array, excess: Array, tolerance: Tolerance
) -> Mismatch:
    """Describe the worst element. `excess` is 0 where values agree, otherwise error divided by allowed error."""
    worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
    index = tuple(int(part) for part in worst)
    one, other = wanted[worst], found[worst]
    relative = float(np.abs(other - one) / np.abs(one)) if one != 0 else math.inf
    kind = _kind(wanted, found)
    if kind == _UNKNOWN and isinstance(expected, np.ndarray) and expected.dtype in (np.float32, np.float64):
        kind = _rounding(wanted, found) or kind
    count = int(np.count_nonzero(excess))
    expected_number, got_number = in_digits(one, other)
    where = ""
    if excess.size > 1:
        differ = "differs" if count == 1 else "differ"
        where = f"{count} of {excess.size} elements {differ}; the worst is {list(index)}: "
    text = (
        f"{_at(path)}{where}expected {expected_number}, got {got_number}"
        f"{f', relative error {relative:.3g}' if math.isfinite(relative) else ''} "
        f"(allowed: {tolerance.atol:g} + {tolerance.rtol:g}·|expected|)."
    )
    if kind != _UNKNOWN:
        text += f" {kind[0].upper()}{kind[1:]}."
    worst_element = WorstElement(
        index=list(index),
        expected=expected_number,
        got=got_number,
        relative_error=relative if math.isfinite(relative) else None,
    )
    difference = Difference(expected=show(expected), got=show(got), worst=worst_element)
    return Mismatch("wrong_value", kind, text, difference)


def _narrowed(path: str, expected: object, got: object) -> Mismatch | None:
    """Detect values within the tolerance that were all rounded to bfloat16, which no tolerance can detect."""
    if not (isinstance(expected, np.ndarray) and isinstance(got, np.ndarray) and expected.dtype == np.float32):
        return None
    wanted, found = expected.ravel(), got.ravel()
    moved = np.abs(found - wanted) > _MOVED_BY_ROUNDING * np.abs(wanted)
    if np.any(_dropped_bits(found)) or len(np.unique(wanted[moved & (_dropped_bits(wanted) > 0)])) < _LEAST_ROUNDED:
        return None
    kind = "your result was rounded to bfloat16"
    text = (
        f"{_at(path)}every element is a bfloat16 number, whose last 16 bits are 0. The expected ones were not rounded. "
        "Keep this leaf in float32 throughout your computation."
    )
    return Mismatch("wrong_value", kind, text, Difference(expected=show(expected), got=show(got)))


def _dropped_bits(value: Array) -> Array:
    """The bits of float32 numbers that bfloat16 does not have."""
    return np.ascontiguousarray(value).view(np.uint32) & 0xFFFF


_UNKNOWN = "your result has a wrong value"


def _kind(wanted: Array, found: Array) -> str:
    """The kind of mistake, in words that reveal no value."""
    if np.isnan(found).any() and not np.isnan(wanted).any():
        return "your result contains NaN"
    if np.isinf(found).any() and not np.isinf(wanted).any():
        return "your result contains infinity"
    nonzero = wanted != 0
    if not nonzero.any() or np.iscomplexobj(wanted):
        return _UNKNOWN
    ratios = found[nonzero] / wanted[nonzero]
    ratio = float(np.median(ratios))
    if not np.allclose(ratios, ratio, rtol=1e-3, atol=0) or not np.allclose(found[~nonzero], 0, atol=1e-6):
        return _UNKNOWN
    for factor, words in _FACTORS.items():
        if math.isclose(abs(ratio), factor, rel_tol=1e-3):
            return f"your result is {words} the expected value" + (", with the opposite sign" if ratio < 0 else "")
    if math.isclose(ratio, -1.0, rel_tol=1e-3):
        return "your result has the opposite sign"
    if ratio == 0:
        return "your result is zero"
    return _UNKNOWN


# dtype and bits of precision: rounding to it changes a number by at most 2**-bits, and few numbers by much less.
_ROUNDING_ERRORS = {"bfloat16": (np.dtype(ml_dtypes.bfloat16), 8), "float16": (np.dtype(np.float16), 11)}
_FEWEST_ROUNDED = 8


def _rounding(wanted: Array, found: Array) -> str:
    """Describe errors that look like rounding to a narrower dtype; return "" if they do not.

    Such errors are as often positive as negative, and small relative to each number. A wrong factor shifts all to one
    side.
    """
    nonzero = wanted != 0
    if np.count_nonzero(nonzero) < _FEWEST_ROUNDED or not np.isfinite(found).all():
        return ""
    errors = found[nonzero] / wanted[nonzero] - 1
    sizes = np.abs(errors)
    to_both_sides = abs(errors.mean()) < 0.5 * sizes.mean()
    for name, (dtype, bits) in _ROUNDING_ERRORS.items():
        if to_both_sides and 2.0 ** -(bits + 4) <= np.median(sizes) and sizes.max() <= 2.0**-bits * 1.01:
            return f"your result is off by at most 2**-{bits} of each number, so something was rounded to {name}"
        narrow, usual = (np.array_equal(each.astype(dtype).astype(np.float64), each) for each in (found, wanted))
        if narrow and not usual and sizes.max() < 0.1:
            return f"your result was rounded to {name}"
    return ""


def _wide(value: Array) -> Array:
    """Convert to float64 or complex128, in which differences are exact enough."""
    return value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)


def _readable(value: Array) -> Array:
    return value if value.dtype.kind in "biufc" else value.astype(np.float32)


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
            if not value:
                return "an empty dict"
            *most, last = (repr(key)[:80] for key in list(value)[:8])
            return f"a dict with the keys {', '.join(most)} and {last}" if most else f"a dict with the key {last}"
        case list() | tuple():
            return f"a {type(value).__name__} of {len(value)} {'item' if len(value) == 1 else 'items'}"
    return f"a Python {type(value).__name__}"


def _structure_hint(expected: object, got: object) -> str:
    if isinstance(expected, np.ndarray):
        if isinstance(got, Foreign) and got.type_name.startswith(FOREIGN_DTYPE):
            return f" Its dtype is {unsendable(got.type_name.removeprefix(FOREIGN_DTYPE))}"
        if isinstance(got, bool | int | float):
            return " Wrap the number in an array."
        if got is None:
            return " Is a `return` missing?"
        if isinstance(got, list | tuple):
            return " Return the array itself."
    return ""
