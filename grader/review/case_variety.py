"""Find what a statement leaves free but no hidden case varies.

A statement fixes a dimension with a number, as in `(384, 40)`, or in a sentence, "`B` is 384". A submission can
hard-code what is fixed. If anything else has the same value in all hidden cases, no case finds one that hard-codes it.
The same holds for structure: a mask that is always a length, names with one order, models that are always trees.
And a range that a statement promises has ends, at which code often fails.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

import numpy as np

from grader.package.package import Package, ProgramManifest
from grader.review.names import arguments_of

_SHAPE = re.compile(r"`[(\[]((?:\d+|[A-Z]\w*)(?:, (?:\d+|[A-Z]\w*))*),?[)\]]`")
_NAME = re.compile(r"`([A-Za-z_]\w*)`")
# What statements say if they promise an order of names, or models of any form.
_SORTED_NAMES = re.compile(r"names? alphabetically|alphabetical order")
_ANY_MODEL = re.compile(r"any nnx model|a graph and not a tree")
# A name that ends in a number, or in the placeholder of an f-string.
_NUMBERED = re.compile(r"\b([A-Za-z_]+)(\d+|\{\w+\})")
# Ranges of an argument, as its row of a table words them.
_INT = r"([0-9]{1,18})(?![\w]|[.,][0-9])"
_AT_LEAST = re.compile(rf"\bat least {_INT}")
_FROM_TO = re.compile(rf"(?<![\w.,]){_INT} to {_INT}")
# From here on, a seed of 32 bits differs from the same seed cut to 31 bits.
_LARGE_SEED = 2**31
# From here on, a seed differs from the same seed cut to 16 bits, and from its last four digits.
_MIDDLE_SEED = 2**16


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
    yield from _unvaried_structure(values, package.statement)
    yield from _ends_left_out(values, package.statement)
    seeds = [each for each in values.get("seed", []) if isinstance(each, int | float)]
    is_traced = isinstance(manifest, ProgramManifest) and manifest.program.export_init
    least = _LARGE_SEED if is_traced else _MIDDLE_SEED
    if seeds and max(seeds) < least:
        kind = "a uint32" if is_traced else "any number"
        yield f"`seed` is {kind}, but no hidden case has one above {max(seeds):,}: use {least:,} or more"


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


def _unvaried_structure(values: Mapping[str, Sequence[object]], statement: str) -> Iterator[str]:
    """Say if masks are lengths, names have one order, or models are trees, in all hidden cases."""
    for name, several in values.items():
        masks = [each for each in several if _is_mask(each)]
        if masks and all(np.all(each[..., :-1] >= each[..., 1:]) for each in masks):
            yield f"in every hidden case, each row of `{name}` begins with all of its ones, so its sum is as good"
        elif masks and all(np.all(each[..., :-1] <= each[..., 1:]) for each in masks):
            yield f"in every hidden case, each row of `{name}` ends with all of its ones, so its sum is as good"
    texts = [each for several in values.values() for each in several if isinstance(each, str) and each]
    if not texts:
        return
    if _SORTED_NAMES.search(statement) and not any(map(_has_numbers_of_two_lengths, texts)):
        yield "names have an order, but no hidden case has both `layer2` and `layer10`, whose order shows which one"
    if _ANY_MODEL.search(statement) and not any(map(_passes_itself_on, texts)):
        yield "a model may be any graph, but in no hidden case does one refer to itself"


def _ends_left_out(values: Mapping[str, Sequence[object]], statement: str) -> Iterator[str]:
    """Say which numbers and integer arrays never have the smallest or largest value of a range in the statement."""
    for line in statement.splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")]
        names = _NAME.findall(cells[0])
        if not line.startswith("|") or len(names) != 1 or names[0] not in values:
            continue
        numbers = [number for each in values[names[0]] for number in _numbers_in(each)]
        words = " ".join(cells[1:])
        # Beside an array, "at least" is mostly about a size.
        is_number = not any(isinstance(each, np.ndarray) for each in values[names[0]])
        ends = {int(least): "least" for least in _AT_LEAST.findall(words) if is_number}
        ends |= {
            int(end): word
            for pair in _FROM_TO.findall(words)
            for end, word in zip(pair, ("least", "most"), strict=True)
        }
        for end, word in ends.items() if numbers else ():
            if end not in numbers:
                yield f"`{names[0]}` is at {word} {end}, but it is {end} in no hidden case"


def _numbers_in(value: object) -> list[float]:
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if np.issubdtype(value.dtype, np.integer) else []
    return [value] if isinstance(value, int | float) else []


def _is_mask(value: object) -> TypeGuard[np.ndarray]:
    if not isinstance(value, np.ndarray) or not value.ndim or value.shape[-1] < 2:
        return False
    return set(np.unique(value).tolist()) == {0, 1}


def _has_numbers_of_two_lengths(code: str) -> bool:
    """Whether names with one stem end in numbers of one and of more digits. An f-string may make both."""
    numbers: dict[str, set[int]] = {}
    for stem, number in _NUMBERED.findall(code):
        if number[0] == "{":
            return True
        numbers.setdefault(stem, set()).add(len(number))
    return any(len(lengths) > 1 for lengths in numbers.values())


def _passes_itself_on(code: str) -> bool:
    """Whether an object in the code passes itself on, such as a module to which its parts refer."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(call, ast.Call) and any(isinstance(each, ast.Name) and each.id == "self" for each in call.args)
        for call in ast.walk(tree)
    )


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
