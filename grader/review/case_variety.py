"""Find what a statement leaves free but no hidden case varies.

A statement fixes a dimension with a number, as in `(384, 40)`, or in a sentence, "`B` is 384". A submission can
hard-code what is fixed. If anything else has the same value in all hidden cases, no case finds one that hard-codes it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.package.package import Package, ProgramManifest
from grader.review.names import arguments_of

_SHAPE = re.compile(r"`[(\[]((?:\d+|[A-Z]\w*)(?:, (?:\d+|[A-Z]\w*))*),?[)\]]`")
_NAME = re.compile(r"`([A-Za-z_]\w*)`")
# From here on, a seed of 32 bits differs from the same seed cut to 31 bits.
_LARGE_SEED = 2**31


def unvaried(package: Package, hidden: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield one sentence for each thing that the statement leaves free and no hidden case varies.

    Args:
      hidden: the inputs of the hidden cases.
    """
    manifest = package.manifest
    is_step = isinstance(manifest, ProgramManifest) and manifest.program.init is not None
    arguments = arguments_of(manifest, package.reference) or []
    values: dict[str, list[object]] = {}
    for case in hidden:
        for name, value in case.items():
            # `w0` and `w1` can be one argument, `w`, with two shardings.
            stem = name.rstrip("0123456789")
            values.setdefault(stem if name not in arguments and stem in arguments else name, []).append(value)
    stated = _stated_shapes(package.statement, [*values])
    for name, several in values.items():
        arrays = [each for each in several if isinstance(each, np.ndarray)]
        if arrays:
            shapes = [each.shape[is_step:] for each in arrays]
            yield from _unvaried_dimensions(name, shapes, stated.get(name, []), package.statement)
        elif len({repr(each) for each in several}) == 1 and not _is_stated(name, several[0], package.statement):
            yield f"`{name}` is {several[0]} in every hidden case"
    if isinstance(manifest, ProgramManifest) and manifest.program.export_init:
        largest = max(int(str(seed)) for seed in values.get("seed", [0]))
        if largest < _LARGE_SEED:
            yield f"`seed` is a uint32, but no hidden case has one above {largest:,}: use {_LARGE_SEED:,} or more"


def _unvaried_dimensions(
    name: str, shapes: Sequence[tuple[int, ...]], stated: Sequence[Sequence[str]], statement: str
) -> Iterator[str]:
    if len({len(shape) for shape in shapes}) > 1:
        return
    words = next((each for each in stated if len(each) == len(shapes[0])), None)
    for dim, sizes in enumerate(zip(*shapes, strict=True)):
        word = words[dim] if words else ""
        if len(set(sizes)) > 1 or word == str(sizes[0]) or (word and _is_stated(word, sizes[0], statement)):
            continue
        called = f" (`{word}`)" if word and not word.isdigit() else ""
        yield f"dimension {dim}{called} of `{name}` is {sizes[0]} in every hidden case"


def _stated_shapes(statement: str, names: Sequence[str]) -> dict[str, list[list[str]]]:
    """The shapes that tables and sentences give for each argument, as sizes or names of sizes."""
    found: dict[str, list[list[str]]] = {}
    prose = " ".join(line for line in statement.splitlines() if not line.startswith("|"))
    rows = [line for line in statement.splitlines() if line.startswith("|")]
    for part in (*rows, *re.split(r"[.;:] ", prose)):
        shapes = [each.split(", ") for each in _SHAPE.findall(part)]
        if not shapes:
            continue
        these = list(dict.fromkeys(_NAME.findall(_SHAPE.split(part)[0])))
        for number, name in enumerate(these):
            # A single shape is that of all arguments. In a row with a second shape for other cases, the first is usual.
            if name in names:
                found.setdefault(name, []).append(shapes[number] if len(shapes) >= len(these) else shapes[0])
    return found


def _is_stated(name: str, value: object, statement: str) -> bool:
    return re.search(rf"[`$]{re.escape(name)}[`$] is {re.escape(str(value))}\b", statement) is not None
