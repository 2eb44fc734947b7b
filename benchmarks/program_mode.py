"""The figures of `program` mode, and how a grading's time is split between the student's sandbox and the verifiers."""

import ast
import statistics
from pathlib import Path

from benchmarks.measure import Measured, Part, Plan, Samples, Say, measure
from benchmarks.workload import PROGRAM_SLUG, Workload
from grader.package.package import KnownSubmission, Package

FULL = Plan(rounds=5, pairs=4, bare_a_core=2, ours_a_core=8, cold=3)
QUICK = Plan(rounds=1, pairs=1, bare_a_core=1, ours_a_core=1, cold=1, hidden=False)


def measure_program(say: Say, *, quick: bool) -> Measured:
    """Measure program mode. Raises the errors of `measure`."""
    return measure(Part("program", PROGRAM_SLUG, typical, _stations, again=True), QUICK if quick else FULL, say)


def _stations(samples: Samples, workload: Workload, data: Path) -> dict[str, float]:
    """`run` is the time that the student's runner took to export for all meshes, `verify` the time after that."""
    return {
        "export_ms_p50": statistics.median(graded.timings_ms["run"] for graded in samples.ours),
        "verify_ms_p50": statistics.median(graded.timings_ms["verify"] for graded in samples.ours),
        "again_ms_p50": statistics.median(graded.taken_ms for graded in samples.again),
        "again_verify_ms_p50": statistics.median(graded.timings_ms["verify"] for graded in samples.again),
    }


def typical(package: Package) -> KnownSubmission:
    """The first accepted submission that keeps the starter's `init`, as most students do; otherwise the reference.

    This affects speed: waiting runners have run the starter's `init`, so its programs are already compiled.
    """
    program = package.manifest.program
    given = _function(package.starter, program.init)
    kept = (known for known in package.accepted if given and _function(known.source, program.init) == given)
    return next(kept, KnownSubmission("reference", package.reference, None, ""))


def _function(source: str, name: str | None) -> str | None:
    """The code of one function, without comments and layout; None if no function has that name."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            return ast.dump(node)
    return None
