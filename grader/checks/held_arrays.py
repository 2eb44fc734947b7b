"""Name the arrays that a device holds for a while, in the messages of checks of memory."""

from collections.abc import Iterable

from grader.checks.wording import listed
from grader.core.text import in_bytes
from grader.program.arrays import HeldArray
from grader.program.census import Census
from grader.program.facts import ProgramLeaf
from grader.program.shapes import JAX_NAMES

_MOST_NAMED = 3


def largest_arrays(mine: Census, reference: Census) -> str:
    """A sentence with the largest arrays of the submission: those that the reference does not have, if it lacks any."""
    own, are_new = _own(mine, reference)
    named = [_name(each) for each in own[:_MOST_NAMED]]
    if not named:
        return ""
    others = " that the reference does not have" if are_new else ""
    subject = "The largest array" if len(named) == 1 else "The largest arrays"
    return f" {subject}{others} {'is' if len(named) == 1 else 'are'} {listed(named)}."


def whole_leaves(mine: Census, reference: Census, state: Iterable[tuple[str, ProgramLeaf]]) -> str:
    """A sentence with the leaves whose whole shape the submission holds on a device, and the reference does not."""
    own, are_new = _own(mine, reference)
    if not are_new:
        return ""
    held = {(JAX_NAMES.get(each.dtype, each.dtype), each.dims): each for each in own}
    leaves: dict[HeldArray, list[str]] = {}
    for path, leaf in state:
        if (array := held.get((leaf.dtype, leaf.shape))) and leaf.held_bytes(0) < leaf.whole_bytes:
            leaves.setdefault(array, []).append(path)
    if not leaves:
        return ""
    array, paths = max(leaves.items(), key=lambda each: each[0].bytes)
    named = paths if len(paths) <= _MOST_NAMED else [*paths[: _MOST_NAMED - 1], f"{len(paths) - _MOST_NAMED + 1} more"]
    return f" A device holds {_name(array)}, the whole shape of {listed(named)}."


def _own(mine: Census, reference: Census) -> tuple[list[HeldArray], bool]:
    """One array of each shape and dtype, and whether the reference has none of them. The largest is first."""
    usual = {(each.dtype, each.dims) for each in reference.largest_arrays}
    forms: dict[tuple[str, tuple[int, ...]], HeldArray] = {}
    for each in sorted(mine.largest_arrays, key=lambda each: each.line is None):
        forms.setdefault((each.dtype, each.dims), each)
    own = [each for form, each in forms.items() if form not in usual]
    return sorted(own or forms.values(), key=lambda each: -each.bytes), bool(own)


def _name(array: HeldArray) -> str:
    line = f", line {array.line}" if array.line else ""
    return f"{JAX_NAMES.get(array.dtype, array.dtype)}{list(array.dims)} ({in_bytes(array.bytes)}{line})"
