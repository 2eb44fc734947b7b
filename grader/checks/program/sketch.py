"""What is kept of a known wrong submission, to recognise another that is wrong in the same way."""

from collections.abc import Sequence
from typing import Any

from grader.checks.program.subject import Measured, mesh_name, strided
from grader.checks.program.table import collectives_of


def sketch_of(examined: Sequence[Any]) -> dict[str, object]:
    """By case and mesh, the last step's leaves, at most 64 elements of each."""
    return {
        f"{case_id} on {mesh_name(each.measured.mesh)}": {path: strided(leaf) for path, leaf in run.steps[-1].items()}
        for each in examined
        for case_id, run in each.runs.items()
    }


def pattern_of(measured: Measured) -> dict[str, object]:
    """How a program is built: its collectives, where its leaves live, what it computes. Compared as a whole."""
    said = sorted(
        [each.kind, "/".join(each.axes or ()), each.in_loop, each.executions, each.logical_bytes]
        for each in collectives_of(measured)
    )
    return {
        "collectives": [" ".join(map(str, row)) for row in said],
        "leaves": [f"{path} {leaf.slices}" for path, leaf in (*measured.state_in, *measured.out)],
        "flops": str(measured.facts.census.dot_flops),
    }
