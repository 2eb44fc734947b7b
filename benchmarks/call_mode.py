"""The figures of `call` mode, and the cost of the walls, which is measured in this mode because it grades fastest."""

import statistics
from pathlib import Path

from benchmarks.measure import Measured, Part, Plan, Samples, Say, measure
from benchmarks.walls import cost_of_walls_ms
from benchmarks.workload import CALL_SLUG, Workload
from grader.package.package import KnownSubmission, Package

FULL = Plan(rounds=7, pairs=6, bare_a_core=2, ours_a_core=20, cold=5, walls=15)
QUICK = Plan(rounds=1, pairs=1, bare_a_core=1, ours_a_core=2, cold=1, walls=1, hidden=False)
_SUBMISSION = "literal"


def measure_call(say: Say, *, quick: bool) -> Measured:
    """Measure call mode. Raises the errors of `measure`."""
    plan = QUICK if quick else FULL

    def walls(samples: Samples, workload: Workload, data: Path) -> dict[str, float]:
        say(f"the walls: {plan.walls} gradings with and {plan.walls} without")
        return _phases(samples) | {"walls_ms": cost_of_walls_ms(workload, data, plan.walls, hidden=plan.hidden)}

    return measure(Part("call", CALL_SLUG, _literal, walls), plan, say)


def _phases(samples: Samples) -> dict[str, float]:
    """Where the milliseconds between the POST and its verdict go. The last phase is what no other one has."""
    phases: dict[str, list[float]] = {"import": [], "calls": [], "compare": [], "fork": [], "service": []}
    for graded in samples.ours:
        timings = graded.timings_ms
        judged = timings["total"]
        parts = [timings["import"], timings["run"], timings["verify"]]
        for phase, ms in zip(phases, (*parts, judged - sum(parts), graded.taken_ms - judged), strict=True):
            phases[phase].append(ms)
    return {f"{phase}_ms_p50": statistics.median(each) for phase, each in phases.items()}


def _literal(package: Package) -> KnownSubmission:
    return next(known for known in package.accepted if known.name.endswith(_SUBMISSION))
