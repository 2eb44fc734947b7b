"""Each part of `./meshgrade bench` measures a real service, quickly: its figures are there, and fit one another."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.figures import CALL, DIVERSE, EXPLORE, PROGRAM, SERVICE, WEB
from benchmarks.parts import PARTS

CHECKOUT = Path(__file__).resolve().parents[2]
KEYS = {sheet.part: sheet.keys for sheet in (CALL, PROGRAM, SERVICE, DIVERSE, EXPLORE, WEB)}
pytestmark = [pytest.mark.xdist_group("bench"), pytest.mark.timeout(900)]


@dataclass(frozen=True, slots=True)
class Run:
    figures: dict[str, Any]
    printed: str


def measured_quickly(part: str) -> Run:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", part, "--quick", "--json"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Run(json.loads(done.stdout), done.stderr)


def check_grading(part: str, run: Run) -> None:
    for phase in ("starting the service", "round 1 of 1", "the pool emptied", "sustained"):
        assert f"{part}: {phase}" in run.printed
    assert run.figures["repetitions"][part]["ours"] == 1
    ours_ms = run.figures[f"{part}.ours_ms_p50"]
    assert run.figures[f"{part}.speedup"] == pytest.approx(run.figures[f"{part}.bare_ms_p50"] / ours_ms, abs=0.01)


def check_call(run: Run) -> None:
    check_grading("call", run)
    assert "call: the walls" in run.printed


def check_program(run: Run) -> None:
    check_grading("program", run)
    assert "walls" not in run.figures["repetitions"]["program"]
    stations_ms = run.figures["program.export_ms_p50"] + run.figures["program.verify_ms_p50"]
    assert 0 < stations_ms <= run.figures["program.ours_ms_p50"]


def check_service(run: Run) -> None:
    assert "service: 20 students submit" in run.printed
    assert (run.figures["service.judged"], run.figures["service.lost"]) == (20.0, 0.0)
    assert run.figures["service.problems_ratio"] > 0


def check_diverse(run: Run) -> None:
    """The submissions differ, in an order that can be drawn again."""
    printed = run.printed.splitlines()
    one, two = (number for number, line in enumerate(printed) if " at a time" in line and "submissions, " in line)
    names = [line.rpartition(" ms  ")[2] for line in printed[one + 1 : two] if ", median of " not in line]
    assert len(set(names)) == len(names) == 2
    assert all(name.startswith("fsdp_step/") for name in names)


def check_explore(run: Run) -> None:
    assert "explore: round 1 of 1" in run.printed
    assert run.figures["repetitions"]["explore"]["ours"] == 1


def check_web(run: Run) -> None:
    assert "web: the problem page" in run.printed
    assert run.figures["web.page_kb"] > 0


CHECKS: dict[str, Callable[[Run], None]] = {
    "call": check_call,
    "program": check_program,
    "service": check_service,
    "diverse": check_diverse,
    "explore": check_explore,
    "web": check_web,
}


def test_each_part_of_bench_is_measured_in_some_part_of_the_tests() -> None:
    # The lens needs the compiler for GPUs: tests/gpu/test_lens.py.
    assert {*CHECKS, "lens"} == set(PARTS)


@pytest.mark.rotation
@pytest.mark.parametrize("part", CHECKS)
def test_the_figures_of_a_part_are_consistent(part: str) -> None:
    run = measured_quickly(part)
    assert set(run.figures) == {*KEYS[part], "machine", "submissions", "repetitions", "failures"}
    assert run.figures["failures"] == {}
    assert set(run.figures["machine"]) == {"date", "cores", "cpu", "kernel", "python", "jax"}
    assert all(type(run.figures[key]) is float for key in KEYS[part]), run.figures
    CHECKS[part](run)
