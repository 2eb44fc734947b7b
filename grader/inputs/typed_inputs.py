"""Read inputs that the author of a run typed as JSON, and check that they fit the problem."""

import math
from collections.abc import Mapping

import numpy as np

from grader.core.errors import InputsUnfit
from grader.core.wire import DTYPES, MAX_RANK
from grader.package.package import InputSpec

MAX_ELEMENTS = 256
_EXAMPLES = {0: "0.5", 1: "[1, 2]", 2: "[[1, 2], [3, 4]]"}


def read_typed(specs: Mapping[str, InputSpec], values: Mapping[str, object]) -> dict[str, object]:
    """Convert the typed arguments to Python numbers and NumPy arrays, by name.

    Raises:
      InputsUnfit: some arguments do not fit; each has a message.
    """
    faults: dict[str, str] = {}
    found: dict[str, object] = {}
    for name, value in values.items():
        if name not in specs:
            known = ", ".join(specs)
            faults[name[:80]] = f"cannot be typed here. {f'You can type {known}.' if specs else 'Choose a seed.'}"
            continue
        try:
            found[name] = _value(specs[name], value)
        except ValueError as error:
            faults[name] = str(error)
    if not faults:
        sizes_of(specs, found)
    if faults:
        raise InputsUnfit(faults)
    return found


def sizes_of(specs: Mapping[str, InputSpec], values: Mapping[str, object]) -> dict[str, int]:
    """Return the size of each named dimension. Raises InputsUnfit if two arguments disagree on one."""
    sizes: dict[str, tuple[int, str]] = {}
    for name, value in values.items():
        shape = value.shape if isinstance(value, np.ndarray) else ()
        for dim, size in zip(specs[name].shape or (), shape, strict=False):
            if not isinstance(dim, str):
                continue
            known, first = sizes.setdefault(dim, (size, name))
            if known != size:
                raise InputsUnfit({name: f"{dim} is {size} here and {known} in {first}. Give both the same size."})
    return {dim: size for dim, (size, _) in sizes.items()}


def form_of(spec: InputSpec) -> str:
    """The form of an argument in words, such as `a number from 1 to 64` or `float32, (N, D_in)`."""
    kind = spec.dtype if spec.shape is not None else {"int": "a whole number", "float": "a number"}[spec.dtype]
    shape = "" if spec.shape is None else f", ({', '.join(map(str, spec.shape))}{',' if len(spec.shape) == 1 else ''})"
    return f"{kind}{shape}{_range(spec)}"


def _value(spec: InputSpec, value: object) -> object:
    if spec.shape is None:
        number = _number(spec, value)
        return number if spec.dtype == "int" else float(number)
    shape = _shape(value)
    rank = len(spec.shape)
    if len(shape) != rank:
        dimensions = f"{rank} dimension{'' if rank == 1 else 's'}, not {len(shape)}"
        raise ValueError(f"must have {dimensions}: {form_of(spec)}, such as {_EXAMPLES.get(rank, 'nested lists')}.")
    if math.prod(shape) > MAX_ELEMENTS:
        raise ValueError(f"has {math.prod(shape):,} elements. At most {MAX_ELEMENTS} can be typed.")
    for dim, size in zip(spec.shape, shape, strict=True):
        if isinstance(dim, int) and size != dim:
            raise ValueError(f"has the shape {shape}, but must be {form_of(spec)}.")
    numbers = [_number(spec, each) for each in _flat(value)]
    return np.asarray(numbers, DTYPES[spec.dtype]).reshape(shape)


def _shape(value: object, depth: int = 0) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    if depth > MAX_RANK:
        raise ValueError("is nested too deeply.")
    if not value:
        raise ValueError("is empty or has an empty row. Each dimension must have at least one element.")
    shapes = {_shape(each, depth + 1) for each in value}
    if len(shapes) > 1:
        raise ValueError("has rows of different lengths. All rows must have the same length.")
    return (len(value), *shapes.pop())


def _flat(value: object) -> list[object]:
    return [inner for each in value for inner in _flat(each)] if isinstance(value, list) else [value]


def _number(spec: InputSpec, value: object) -> bool | int | float:
    if spec.dtype == "bool":
        if type(value) is not bool:
            raise ValueError(f"{_shown(value)} is not true or false.")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_shown(value)} is not a number.")
    if spec.dtype.startswith("int") and not isinstance(value, int):
        raise ValueError(f"{_shown(value)} is not a whole number.")
    # Beyond these limits, an int32 would wrap around and a float would become infinite.
    largest = 2**31 - 1 if spec.dtype.startswith("int") else 6e4 if spec.dtype == "float16" else 1e38
    if not -largest <= value <= largest:
        raise ValueError(f"{_shown(value)} is too large for {spec.dtype}.")
    if (spec.least is not None and value < spec.least) or (spec.most is not None and value > spec.most):
        raise ValueError(f"{_shown(value)} is not allowed: must be{_range(spec).replace(',', '')}.")
    return value


def _range(spec: InputSpec) -> str:
    match spec.least, spec.most:
        case None, None:
            return ""
        case least, None:
            return f", at least {least:.10g}"
        case None, most:
            return f", at most {most:.10g}"
        case least, most:
            return f" from {least:.10g} to {most:.10g}"
    raise AssertionError


def _shown(value: object) -> str:
    return repr(value)[:40]
