"""Compile the programs that calculators compare their results with, and write what each does, as JSON.

Usage: reference_programs.py PROBLEMS_FOLDER OUTPUT_FILE
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import PROBLEMS
from grader.program.collective_uses import collectives_of
from grader.program.facts import ProgramLeaf
from tests.problems.measured_programs import Program, Programs


def described(name: str, program: Program) -> dict[str, Any]:
    """Numbers of the fullest device. Collectives of one kind, axes and place are added up."""
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for each in collectives_of(program.measured):
        axes = ", ".join(each.axes or ())
        row = sums.setdefault((each.kind, axes), {"kind": each.kind, "axes": axes, "times": 0, "bytes": 0, "sent": 0})
        times = each.executions or 0
        row["times"] += times
        row["bytes"] += each.total_bytes
        row["sent"] += each.ring_bytes * times
    return {
        "name": name,
        "mesh": program.measured.mesh,
        "state": program.state,
        "arguments": program.arguments,
        "outputs": program.outputs,
        "temporaries": program.temporaries,
        "sent": sum(each["sent"] for each in sums.values()),
        "flops": program.flops,
        "collectives": list(sums.values()),
        "holdings": holdings(program),
    }


def holdings(program: Program) -> list[dict[str, Any]]:
    """What each device holds of the parameters, and of the rest of the state. Empty without a state."""
    parts: dict[str, list[ProgramLeaf]] = {"parameters": [], "optimizer state": []}
    for path, leaf in program.measured.state_in:
        parts["parameters" if path.partition("/")[0] == "params" else "optimizer state"].append(leaf)
    found = []
    for part, leaves in parts.items():
        numbers: dict[tuple[Any, ...], int] = {}
        devices = range(program.measured.facts.devices)
        pieces = [numbers.setdefault(tuple(leaf.slices[each] for leaf in leaves), len(numbers)) for each in devices]
        if leaves:
            whole, held = (
                sum(each.whole_bytes for each in leaves),
                [sum(leaf.held_bytes(d) for leaf in leaves) for d in devices],
            )
            found.append({"part": part, "whole": whole, "bytes_by_device": held, "pieces": pieces})
    return found


def compared(problems: Path) -> Iterator[tuple[str, Program]]:
    """Each program with its name, on each of its meshes."""
    for slug in PROBLEMS:
        programs = Programs(problems / slug)
        yield from ((slug, programs.case("public-1", math.prod(each))) for each in programs.meshes)
    # All of them train the network of this problem on its batch.
    batch = Programs(problems / "dp_step")
    for each in OWN_PROGRAMS.values():
        specs = {"x": list(each.x), "y": list(each.y)}
        yield from ((each.name, batch.step(each.source, dict(mesh), specs)) for mesh in each.meshes)


def main() -> None:
    problems, output = Path(sys.argv[1]), Path(sys.argv[2])
    rows = [described(name, program) for name, program in compared(problems)]
    output.write_text(json.dumps({"jax": jax.__version__, "programs": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
