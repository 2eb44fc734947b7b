"""The parts of `./meshgrade bench`: each is measured by itself, and all figures are in one object."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from benchmarks.call_mode import measure_call
from benchmarks.diverse_submissions import measure_diverse
from benchmarks.errors import BenchmarkFailed
from benchmarks.explorer import measure_explore
from benchmarks.lens import measure_lens
from benchmarks.machine import describe_machine
from benchmarks.problem_page import measure_web
from benchmarks.program_mode import measure_program
from benchmarks.service import measure_service

PARTS = {
    "call": measure_call,
    "program": measure_program,
    "service": measure_service,
    "diverse": measure_diverse,
    "explore": measure_explore,
    "lens": measure_lens,
    "web": measure_web,
}


def measure_parts(names: Iterable[str], say: Callable[[str], None], *, quick: bool) -> dict[str, Any]:
    """Measure one part after another. Returns all figures by their keys, with the submissions and the machine.

    If a part fails, the others are still measured, and `failures` has its message.

    Raises:
      BenchmarkFailed: every part failed.
    """
    results: dict[str, Any] = {"machine": describe_machine(), "submissions": {}, "repetitions": {}, "failures": {}}
    for name in names:
        try:
            measured = PARTS[name](partial(_say_of, name, say), quick=quick)
        except BenchmarkFailed as failure:
            say(f"{name}: failed. {failure}")
            results["failures"][name] = str(failure)
            continue
        results |= measured.figures
        results["submissions"][name] = measured.submission
        results["repetitions"][name] = measured.repetitions
    if not results["submissions"]:
        raise BenchmarkFailed("\n".join(results["failures"].values()))
    return results


def _say_of(name: str, say: Callable[[str], None], phase: str) -> None:
    say(f"{name}: {phase}")
