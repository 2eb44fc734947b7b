"""Say which costly operations several devices repeat, on the whole array or on the same part of it."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations

from grader.program.measurement import Measured

# Costly operations by their names in StableHLO and in HLO. Others are cheap, or divided along some dimension.
_COSTLY = {"fft": "fft", "cholesky": "cholesky", "triangular_solve": "triangular-solve", "sort": "sort"}
_INSTRUCTION = re.compile(r"\w[\w.-]{0,200} = \(?\w{1,20}\[([\d,]{0,200})\][^()]{0,100} ([a-z-]{1,40})\(", re.ASCII)
_MOST = 3
_PRODUCT = re.compile(
    r"stablehlo\.dot_general [^:]{0,300}contracting_dims = \[([\d, ]{0,100})\] x [^:]{0,100}"
    r": \(tensor<([\dx]{0,200}x)?\w{1,20}>, [^()]{0,250}\) -> tensor<([\dx]{0,200}x)?\w{1,20}>",
    re.ASCII,
)
# Products with less than this share of a device's FLOPs are not worth a sentence.
_LEAST = 0.1


def repeated_work(measured: Measured) -> list[str]:
    """One sentence for each costly operation that several devices repeat, for the first few."""
    if measured.listing is None or measured.arrays is None or measured.facts.devices == 1:
        return []
    instructions = [each for part in measured.listing.computations for each in part.instructions]
    # The operation, the size that a device computes, and the line.
    computed = {(match[2], match[1], each.line) for each in instructions if (match := _INSTRUCTION.match(each.text))}
    found = []
    for array in measured.arrays.arrays:
        key = _COSTLY.get(array.operation), ",".join(map(str, array.shape)), array.line
        if not array.inside and key in computed:
            sizes = ", ".join(map(str, array.shape))
            where = f"On line {array.line}, each" if array.line else "Each"
            found.append(
                f"{where} of {measured.facts.devices} devices computes the whole {array.operation} of "
                f"{array.dtype}[{sizes}]: XLA could not divide it. Use `jax.shard_map` to give each device its part."
            )
    return list(dict.fromkeys(found))[:_MOST]


def repeated_products(measured: Measured) -> list[str]:
    """Write one sentence for each line at which several devices compute the same part of a matrix product.

    The part is compared with the whole product of the exported program. Lines inside a `shard_map` are left out,
    because their products are parts already, and so are lines with products of several sizes.
    """
    if measured.written is None or measured.arrays is None or measured.facts.devices == 1:
        return []
    devices, total = measured.facts.devices, measured.facts.census.dot_flops or 0
    by_hand = {each.line for each in measured.arrays.arrays if each.inside}
    wholes: dict[int, set[int]] = defaultdict(set)
    for part in measured.written.computations:
        for each in part.instructions:
            if each.line and (match := _PRODUCT.match(each.text.partition(" = ")[2])):
                wholes[each.line].add(_flops(match))
    found = []
    for line, (*others, whole) in wholes.items():
        parts = [each for each in measured.facts.census.dots if each.source_line == line]
        repeated = [each for each in parts if each.flops and whole / each.flops < devices and not whole % each.flops]
        spent = sum(each.flops * (each.executions or 0) for each in repeated)
        if others or line in by_hand or not repeated or spent < _LEAST * total:
            continue
        most = max(each.flops for each in repeated)
        copies = devices * most // whole
        if whole == most:
            repeats = f"each of {devices} devices computes a whole matrix product"
        else:
            repeats = f"{copies} devices each compute the same part of a matrix product"
        axes = _axes_of(copies, measured.mesh)
        along = f", because nothing splits it along {axes}" if axes else ""
        found.append((spent, f"On line {line}, {repeats}{along}."))
    return [sentence for _, sentence in sorted(found, key=lambda each: -each[0])[:_MOST]]


def _flops(product: re.Match[str]) -> int:
    """Count two FLOPs for each multiply-add of a product."""
    left, result = ([int(size) for size in (product[group] or "").split("x") if size] for group in (2, 3))
    contracted = [left[int(each)] for each in product[1].split(",") if each.strip() and int(each) < len(left)]
    return 2 * math.prod(result) * math.prod(contracted)


def _axes_of(copies: int, mesh: Mapping[str, int]) -> str:
    """The axes along which there are this many copies, or nothing if several sets of axes could have them."""
    axes = [name for name, size in mesh.items() if size > 1]
    sets = [
        chosen
        for number in range(1, len(axes) + 1)
        for chosen in combinations(axes, number)
        if math.prod(mesh[name] for name in chosen) == copies
    ]
    return " and ".join(f"`{name}`" for name in sets[0]) if len(sets) == 1 else ""
