"""Fingerprints in program mode: summaries of results, and of how programs are built."""

import hashlib
import math
from collections.abc import Sequence

from grader.modes.program.verify import Examined
from grader.program.collective_uses import collectives_of
from grader.program.measurement import Measured, Run, mesh_name
from grader.program.partitioner import is_widened
from grader.verdicts.fingerprint import Pattern, Sketch, sketch

_FULL_SIZE = "full size"


def results_of(examined: Sequence[Examined]) -> dict[str, Sketch]:
    """Sketches of what the last step returns in the public cases, and of differing replicas, by case and mesh."""
    return {
        f"{case.id} on {mesh_name(each.measured.mesh)}": _sketch_of(each.runs[case.id])
        for each in examined
        for case in each.cases
        if case.public
    }


def _sketch_of(run: Run) -> Sketch:
    return sketch({**run.steps[-1], **({"elsewhere": run.replicas[-1]} if run.replicas[-1] else {})})


def pattern_of(programs: Sequence[Measured]) -> dict[str, Pattern]:
    """Summarize how programs are built, by mesh and by position among the programs of that mesh."""
    pattern: dict[str, Pattern] = {}
    for each in programs:
        mesh = mesh_name(each.mesh)
        pattern[f"{mesh} {sum(key.startswith(f'{mesh} ') for key in pattern)}"] = _pattern_of(each)
    return pattern


def full_size_pattern(program: Measured) -> dict[str, Pattern]:
    """The additional pattern of a problem with a full size.

    Programs that keep other values for the backward pass differ only in memory. The bytes are rounded to quarter powers
    of two, because two programs with the same mistake can differ in them by a few percent.
    """
    quarter_powers = round(4 * math.log2(1 + program.facts.memory.temporary_bytes))
    return {_FULL_SIZE: {**_pattern_of(program), "temporaries": str(quarter_powers)}}


def without_init(pattern: dict[str, Pattern], reference: dict[str, Pattern]) -> dict[str, Pattern]:
    """The pattern without `init`, unless all steps are built like the reference's: then the mistake is in `init`."""
    steps = {name: _step(each) for name, each in pattern.items()}
    if all(step == _step(reference.get(name, {})) for name, step in steps.items()):
        return pattern
    return steps


def _step(pattern: Pattern) -> Pattern:
    return {key: each for key, each in pattern.items() if key != "init"}


def _pattern_of(measured: Measured) -> Pattern:
    """Summarize how a program is built: its collectives, those in a narrow dtype, its leaves, its FLOPs and the bytes
    of `init`. Lists are stored as digests, because patterns are only compared."""
    collectives = [
        f"{each.kind} {each.axes} {each.in_loop} {each.executions} {each.logical_bytes}"
        for each in collectives_of(measured)
    ]
    # The CPU's compiled collectives do not show a narrow dtype.
    narrow = [f"{each.kind} {each.dtypes} {each.operand_bytes}" for each in measured.facts.written if is_widened(each)]
    leaves = [f"{path} {leaf.slices}" for path, leaf in (*measured.state_in, *measured.out)]
    init = measured.init.memory if measured.init else None
    return {
        "init": str(init.output_bytes + init.temporary_bytes if init else None),
        "collectives": _digest(sorted(collectives)),
        "narrow": _digest(sorted(narrow)),
        "leaves": _digest(leaves),
        "flops": str(measured.facts.census.dot_flops),
    }


def _digest(rows: Sequence[str]) -> str:
    text = "\n".join(rows)
    return f"{len(rows)} {hashlib.sha256(text.encode()).hexdigest()[:12]}"
