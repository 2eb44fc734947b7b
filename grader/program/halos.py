"""Find the lines at which neighbours exchange the edges of their parts, the halo, because a window overlaps them."""

from typing import Literal, TypeAlias, cast

from grader.program.measurement import Measured

Windowed: TypeAlias = Literal["convolution", "reduce_window"]

_WINDOWED = {
    "convolution": "convolution",
    "reduce_window": "reduce_window",
    "select_and_scatter": "reduce_window",
}


def halos_of(measured: Measured) -> dict[int, Windowed]:
    """Map each line with an operation on windows, but no permute of its own, to that operation.

    A collective-permute of such a line was inserted by the partitioner.
    """
    arrays = measured.arrays.arrays if measured.arrays else ()
    permuted = {each.line for each in arrays if each.operation == "collective_permute"}
    return {
        each.line: cast(Windowed, _WINDOWED[each.operation])
        for each in arrays
        if each.line and not each.inside and each.operation in _WINDOWED and each.line not in permuted
    }
