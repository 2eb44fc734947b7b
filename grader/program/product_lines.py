"""Find the source line of each matrix product, also of those that lost it.

If a batch or a column is 1, as the shard of a stage on its own device, XLA rewrites the product and drops its line.
"""

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from grader.program.dots import is_dot
from grader.program.hlo import Computation, Instruction, Module
from grader.program.nearby_lines import NearbyLines

# The names of a computation and of an instruction in it.
_Name: TypeAlias = tuple[str, str]


def lines_of_products(module: Module, lines: NearbyLines, written: Mapping[int, int]) -> dict[_Name, int | None]:
    """The line of each product of a module.

    Args:
      written: for each line, how many products of the exported program it wrote. A product without a line gets the
        nearest of these lines that has products left, because the nearest line of all often only uses the product.
    """
    products = [
        (computation, each)
        for computation in module.computations.values()
        for each in computation.instructions.values()
        if is_dot(each)
    ]
    found = {_name(*place): lines.own(place[1]) for place in products}
    left = Counter(written)
    left.subtract(line for line in found.values() if line is not None)
    lost = {_name(*place): lines.near(*place) for place in products if found[_name(*place)] is None}
    # Assign the nearest lines first, and in program order if several are equally near.
    ways = sorted(
        ((distance, name, line) for name, near in lost.items() for distance, line in near), key=lambda way: way[0]
    )
    for _, name, line in ways:
        if found[name] is None and left[line] > 0:
            found[name] = line
            left[line] -= 1
    for name, near in lost.items():
        if found[name] is None:
            found[name] = _best(
                [line for _, line in near], [line for line, count in left.items() if count > 0], written
            )
    return found


def _best(near: list[int], left: list[int], written: Mapping[int, int]) -> int | None:
    """A line for a product if no line nearby has products left."""
    if len(left) == 1:
        return left[0]
    return next((line for line in near if line in written), near[0] if near else None)


def _name(computation: Computation, instruction: Instruction) -> _Name:
    return computation.name, instruction.name
