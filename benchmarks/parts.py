"""The parts of `./meshgrade bench`: each measured by itself, their figures together in one object."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from benchmarks.call import measure_call
from benchmarks.diverse import measure_diverse
from benchmarks.machine import describe_machine
from benchmarks.program import measure_program
from benchmarks.service import measure_service

PARTS = {
    "call": measure_call,
    "program": measure_program,
    "service": measure_service,
    "diverse": measure_diverse,
}


def measure_parts(names: Iterable[str], say: Callable[[str], None], *, quick: bool) -> dict[str, Any]:
    """Measure one part after the other. Returns all figures by their keys, and beside them what was measured where.

    Raises:
      BenchmarkFailed: something did not work in one of them.
    """
    results: dict[str, Any] = {"machine": describe_machine(), "submissions": {}, "repetitions": {}}
    for name in names:
        measured = PARTS[name](partial(_say_of, name, say), quick=quick)
        results |= measured.figures
        results["submissions"][name] = measured.submission
        results["repetitions"][name] = measured.repetitions
    return results


def _say_of(name: str, say: Callable[[str], None], phase: str) -> None:
    say(f"{name}: {phase}")
