"""A summary of a known wrong submission, to recognise another one that is wrong in the same way."""

import math
from collections.abc import Sequence

import numpy as np

from grader.checks.program.partitioner import is_widened
from grader.checks.program.table import collectives_of
from grader.modes.program.verify import Examined
from grader.program.measured import Measured, mesh_name
from grader.wire import Array

_FULL_SIZE = "full size"


def sketch_of(examined: Sequence[Examined]) -> dict[str, object]:
    """The leaves of the last step, by case and mesh: shapes, at most 64 elements each, and replicas that differ."""
    return {
        f"{case_id} on {mesh_name(each.measured.mesh)}": {
            **{f"{path} shape": np.array(leaf.shape) for path, leaf in run.steps[-1].items()},
            **{path: _strided(leaf) for path, leaf in run.steps[-1].items()},
            **{f"{path} elsewhere": _strided(leaf) for path, leaf in run.replicas[-1].items()},
        }
        for each in examined
        for case_id, run in each.runs.items()
    }


def pattern_of(programs: Sequence[Measured]) -> dict[str, object]:
    """How programs are built, by mesh and by position among the programs of that mesh."""
    pattern: dict[str, object] = {}
    for each in programs:
        mesh = mesh_name(each.mesh)
        pattern[f"{mesh} {sum(key.startswith(f'{mesh} ') for key in pattern)}"] = _pattern_of(each)
    return pattern


def full_size_pattern(program: Measured | None) -> dict[str, object]:
    """What `pattern_of` of a problem with a full size has in addition; without a program, it equals no other.

    Programs that keep other values differ in their memory alone, which two compilations of one mistake have alike to
    within some percent.
    """
    if program is None:
        return {_FULL_SIZE: None}
    quarter_powers = round(4 * math.log2(1 + program.facts.memory.temporary_bytes))
    return {_FULL_SIZE: {**_pattern_of(program), "temporaries": str(quarter_powers)}}


def is_built_alike(known: dict[str, object], mine: dict[str, object], reference: dict[str, object]) -> bool:
    """Do two patterns show the same mistake?

    `init` counts only if the steps are built as the reference's are. The mistake is then nowhere else.
    """
    names = known.keys() & mine.keys()
    if not names or any(_step(known[name]) != _step(mine[name]) for name in names):
        return False
    if any(_step(mine[name]) != _step(reference.get(name)) for name in names):
        return True
    return all(known[name] == mine[name] for name in names)


def _step(pattern: object) -> object:
    return {key: each for key, each in pattern.items() if key != "init"} if isinstance(pattern, dict) else None


def _pattern_of(measured: Measured) -> dict[str, object]:
    """How a program is built: its collectives, those written in a narrow dtype, its leaves and its FLOPs; and the bytes
    of `init`."""
    # Rows of text, since the executions of a collective in a loop may be unknown, and None is not less than a number.
    collectives = sorted(
        _row(each.kind, "/".join(each.axes or ()), each.in_loop, each.executions, each.logical_bytes)
        for each in collectives_of(measured)
    )
    # The compiled collectives of the CPU do not show a narrow dtype.
    narrow = sorted(
        _row(each.kind, *each.dtypes, each.operand_bytes) for each in measured.facts.written if is_widened(each)
    )
    init = measured.init.memory if measured.init else None
    return {
        "init": str(init.output_bytes + init.temporary_bytes if init else None),
        "collectives": collectives,
        "narrow": narrow,
        "leaves": [f"{path} {leaf.slices}" for path, leaf in (*measured.state_in, *measured.out)],
        "flops": str(measured.facts.census.dot_flops),
    }


def _row(*facts: object) -> str:
    return " ".join(map(str, facts))


def _strided(leaf: Array, count: int = 64) -> Array:
    """At most `count` evenly spread elements, enough to recognise an array by."""
    flat = np.ravel(leaf)
    step = max(1, -(-flat.size // count))
    return flat[::step]
