"""What is kept of a known wrong submission, to recognise another that is wrong in the same way."""

from collections.abc import Sequence
from typing import Any

from grader.checks.program.subject import Measured, strided
from grader.checks.program.table import collectives_of


def sketch_of(examined: Sequence[Any]) -> dict[str, object]:
    """By case, the last step's leaves on the main mesh, at most 64 elements of each."""
    main = examined[0].measured.mesh
    return {
        case_id: {path: strided(leaf) for path, leaf in run.steps[-1].items()}
        for each in examined
        if each.measured.mesh == main
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
