"""What a submission did on the public cases, small enough to ship with a package and to store with an attempt.

A submission that is wrong in the same way has the same fingerprint. Results are recognised within the tolerance, since
another machine may add in another order; so of each array some elements are kept, and two weighted means.
"""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np
from pydantic import Field

from grader.closed import Closed
from grader.wire import Array, Foreign

# By leaf path: the dtype and shape, and the numbers, as text.
Sketch = dict[str, str]
# How one program is built, by name: equal texts are the same thing.
Pattern = dict[str, str]
_ELEMENTS = 4


class Fingerprint(Closed):
    """Of a wrong result `results`, of a right result from a program that is built wrongly `pattern`.

    Attributes:
      results: by case, or in program mode by case and mesh.
      pattern: by mesh and by the position of the program among those of its mesh.
      shown: whether it differs from the reference's; False if only hidden cases show the mistake.
    """

    results: dict[str, Sketch] = Field(default_factory=dict)
    pattern: dict[str, Pattern] = Field(default_factory=dict)
    shown: bool = True

    def stored(self) -> dict[str, object]:
        return self.model_dump(exclude_defaults=True)


class KnownFingerprint(Fingerprint):
    """That of a known wrong submission. `of` is a hash of everything that it depends on, except JAX."""

    of: str


class KnownFingerprints(Closed):
    """Those of a package: the file known.json. `jax` is the version that they were made with."""

    jax: str
    mistakes: dict[str, KnownFingerprint]


def sketch(value: object) -> Sketch:
    """Of a result, a pytree as `wire.unpack_values` returns it. The order of a dict's keys does not matter."""
    return dict(sorted(_leaves(value, "")))


def numbers_of(text: str) -> tuple[str, list[float] | None]:
    """The dtype of a leaf with its shape, and its numbers; None instead if another leaf must be equal to it."""
    kind, _, rest = text.partition(" ")
    if kind.startswith(("float", "bfloat", "complex")):
        with suppress(ValueError):
            return kind, [float(each) for each in rest.split()]
    return text, None


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The brackets around an index tell a list from a tuple."""
    if isinstance(value, dict):
        children: Mapping[str, object] = {str(key): child for key, child in value.items()}
        empty = "{}"
    elif isinstance(value, list | tuple):
        empty = "[]" if isinstance(value, list) else "()"
        children = {f"{empty[0]}{index}{empty[1]}": child for index, child in enumerate(value)}
    else:
        yield path, _text(value)
        return
    if not children:
        yield path, empty
    for key, child in children.items():
        yield from _leaves(child, f"{path}/{key}" if path else key)


def _text(leaf: object) -> str:
    if isinstance(leaf, np.ndarray):
        return f"{leaf.dtype.name}[{','.join(map(str, leaf.shape))}]{''.join(f' {each}' for each in _numbers(leaf))}"
    if isinstance(leaf, float):
        return f"float {leaf:.9g}"
    if isinstance(leaf, Foreign):
        return f"type {leaf.type_name}"
    return f"{type(leaf).__name__}: {str(leaf)[:80]}"


def _numbers(leaf: Array) -> list[str]:
    """Evenly spread elements. Of a larger array a weighted mean of its sizes follows, and one that also has its signs:
    each element counts in them, so a change or an exchange of any shows. Integers have a checksum instead."""
    flat = np.ravel(leaf)
    few = flat if flat.size <= _ELEMENTS + 2 else flat[np.linspace(0, flat.size - 1, _ELEMENTS).astype(int)]
    if flat.dtype.kind in "biu":
        found = [str(each.item()) for each in few]
        return found if few is flat else [*found, f"{zlib.crc32(np.ascontiguousarray(flat).tobytes()):08x}"]
    wide, shown = _real(flat), _real(few)
    if few is not flat:
        with np.errstate(all="ignore"):
            weights = 1 + np.modf(np.arange(wide.size) * 0.618034)[0]
            size, signed = (np.average(each, weights=weights) for each in (np.abs(wide), np.abs(wide) + wide))
        shown = np.append(shown, [size, signed])
    digits = 12 if leaf.dtype.name in ("float64", "complex128") else 9
    return [f"{each:.{digits}g}" for each in shown]


def _real(flat: Array) -> Array:
    if np.iscomplexobj(flat):
        return flat.astype(np.complex128).view(np.float64)
    return flat.astype(np.float64)
