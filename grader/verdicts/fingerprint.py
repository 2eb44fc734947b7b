"""A summary of what a submission does on the public cases, small enough to store with an attempt or a package.

Two submissions that are wrong in the same way have the same fingerprint. Results are compared within the tolerance,
because machines add in different orders. So each array is reduced to some of its elements and two weighted means.
"""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np
from pydantic import Field

from grader.core.strict_model import StrictModel
from grader.core.wire import Array, Foreign

# Leaf path -> dtype, shape and numbers, as text.
Sketch = dict[str, str]
# Property of a program -> its value as text. Programs that are built alike have equal texts.
Pattern = dict[str, str]
_ELEMENTS = 4


class Fingerprint(StrictModel):
    """What identifies a mistake: `results` if they are wrong, otherwise the `pattern` of the program.

    Attributes:
      results: by case, in program mode by case and mesh.
      pattern: by mesh and position among the programs of that mesh.
      shown: whether it differs from the reference's. False if only hidden cases show the mistake.
    """

    results: dict[str, Sketch] = Field(default_factory=dict)
    pattern: dict[str, Pattern] = Field(default_factory=dict)
    shown: bool = True

    def stored(self) -> dict[str, object]:
        return self.model_dump(exclude_defaults=True)


class KnownFingerprint(Fingerprint):
    """The fingerprint of a known wrong submission. `of` is a hash of everything it depends on, except JAX."""

    of: str


class KnownFingerprints(StrictModel):
    """All fingerprints of a package, as in known.json. `jax` is the version that made them."""

    jax: str
    mistakes: dict[str, KnownFingerprint]


def sketch(value: object) -> Sketch:
    """Summarize a result, a pytree as `wire.unpack_values` returns it. The order of dict keys does not matter."""
    return dict(sorted(_leaves(value, "")))


def numbers_of(text: str) -> tuple[str, list[float] | None]:
    """Return a leaf's dtype with its shape, and its numbers. If leaves must be equal, return the text and None."""
    kind, _, rest = text.partition(" ")
    if kind.startswith(("float", "bfloat", "complex")):
        with suppress(ValueError):
            return kind, [float(each) for each in rest.split()]
    return text, None


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of each leaf. Brackets around an index tell lists from tuples."""
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
    """Return evenly spaced elements. A larger array also gets two weighted means over all elements, one of |x| and
    one of |x| + x, so that any change or swap shows. Integers have a checksum instead."""
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
