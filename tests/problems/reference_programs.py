"""Compile the programs that calculators compare their results with, and say what each does.

`python -m tests.prove` starts it (tests/prove/measuring.py).
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import PROBLEMS
from grader.program.collective_uses import collectives_of
from grader.program.facts import ProgramLeaf
from tests.problems.measured_programs import Program, Programs

_PROBLEMS = Path(__file__).parents[2] / "problems"


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
    for name in (*PROBLEMS, *OWN_PROGRAMS):
        yield from ((name, program) for program in programs_of(name, problems))


def programs_of(name: str, problems: Path) -> Iterator[Program]:
    """The reference of a problem, or one of our own programs, on each of its meshes."""
    if name in PROBLEMS:
        programs = Programs(problems / name)
        yield from (programs.case("public-1", math.prod(each)) for each in programs.meshes)
    else:
        own = OWN_PROGRAMS[name]
        # All of them train the network of this problem on its batch.
        batch = Programs(problems / "dp_step")
        specs = {"x": list(own.x), "y": list(own.y)}
        yield from (batch.step(own.source, dict(mesh), specs) for mesh in own.meshes)


def measure(name: str) -> list[dict[str, Any]]:
    """What a program does on each of its meshes."""
    return [described(name, program) for program in programs_of(name, _PROBLEMS)]
