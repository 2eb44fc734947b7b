"""Compile the programs of reference_programs.py for H100s, and write what each does, as JSON.

Usage: reference_programs_on_gpus.py PROBLEMS_FOLDER OUTPUT_FILE
"""

import json
import sys
from pathlib import Path
from typing import Any

from grader.core.chips import CHIPS, compiler_of
from grader.program.measurement import Measured
from grader.verifier.chip import compile_for, find_compiler
from tests.problems.reference_programs import compared

CHIP = CHIPS["h100"]


def on_gpus(name: str, measured: Measured) -> dict[str, Any]:
    """What a GPU sends and holds. Collectives of one kind and axes are added up."""
    topology, artifact = CHIP.topology(measured.facts.devices), measured.artifact
    assert topology is not None
    assert artifact is not None
    compiled = compile_for(bytes(artifact.program), topology, measured.mesh, list(artifact.inputs), artifact.state)
    program = compiled.program
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    sent = 0
    for computation in program.schedule.computations:
        times = computation.executions or 0
        for each in computation.collectives:
            axes = ", ".join(each.axes or ())
            row = sums.setdefault((each.kind, axes), {"kind": each.kind, "axes": axes, "times": 0})
            row["times"] += times
            sent += each.ring_bytes * times
    return {
        "name": name,
        "devices": measured.facts.devices,
        "sent": sent,
        "peak": program.peak_bytes,
        "memory": program.memory.argument_bytes + program.memory.temporary_bytes,
        "collectives": list(sums.values()),
    }


def main() -> None:
    problems, output = Path(sys.argv[1]), Path(sys.argv[2])
    find_compiler("gpu")
    rows = [on_gpus(name, program.measured) for name, program in compared(problems)]
    output.write_text(json.dumps({"compiler": compiler_of("gpu"), "programs": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
