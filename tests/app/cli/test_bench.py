"""`bench` measures a real service; this shows that every figure comes out, not how good it is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.call import percentile
from benchmarks.errors import BenchmarkFailed
from benchmarks.figures import KEYS, TARGETS
from benchmarks.write_table import fill, table_of

CHECKOUT = Path(__file__).resolve().parents[3]
# One process: all tests of the command read one run of it.
pytestmark = pytest.mark.xdist_group("bench")
RESULTS = dict.fromkeys(KEYS, 3.0) | {
    "machine": {"cores": 2, "cpu": "a processor", "kernel": "6.1", "python": "3.11", "jax": "0.10"},
    "repetitions": {"ours": 1},
}


@pytest.fixture(scope="module")
def quick() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "bench", "--quick", "--json", "--only", "call"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_every_figure_is_a_number_and_the_machine_is_named(quick):
    assert quick.returncode == 0, quick.stderr
    figures = json.loads(quick.stdout)
    assert set(figures) == {*KEYS, "machine", "repetitions"}
    assert all(type(figures[key]) is float for key in KEYS), figures
    assert set(figures["machine"]) == {"cores", "cpu", "kernel", "python", "jax"}
    assert figures["repetitions"]["ours"] == 1


def test_every_phase_is_told_on_standard_error(quick):
    for phase in ("starting the service", "round 1 of 1", "the pool emptied", "bare processes", "the walls"):
        assert phase in quick.stderr


def test_the_figures_are_consistent(quick):
    figures = json.loads(quick.stdout)
    assert figures["call.speedup"] == pytest.approx(figures["call.bare_ms_p50"] / figures["call.ours_ms_p50"], abs=0.01)


def test_another_part_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "bench", "--only", "program"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "'call'" in done.stderr


def test_a_percentile_is_a_sample_that_was_measured():
    assert percentile([5.0, 1.0, 3.0], 95) == 5.0
    assert percentile([float(number) for number in range(1, 21)], 95) == 19.0
    assert percentile([7.0], 95) == 7.0


def test_a_figure_that_was_not_measured_reaches_nothing():
    results = RESULTS | {"call.warm_fork_private_mb": None}
    memory = next(figure for figure in TARGETS if "memory" in figure.title)
    assert memory.reached(RESULTS)
    assert not memory.reached(results)
    assert memory.shown(results) == "not measured"


def test_the_page_takes_its_tables_and_keeps_its_text():
    page = (CHECKOUT / "docs" / "performance.md").read_text()
    name, table = table_of(RESULTS)
    filled = fill(page, name, table)
    assert "| Idle: median bare / median ours | at least 40 | 3 | **no** |" in filled
    assert filled.partition("<!-- call: begin -->")[0] == page.partition("<!-- call: begin -->")[0]
    assert filled.partition("<!-- call: end -->")[2] == page.partition("<!-- call: end -->")[2]
    with pytest.raises(BenchmarkFailed, match="0 places"):
        fill("no place", name, table)


def test_results_of_another_kind_are_refused():
    with pytest.raises(BenchmarkFailed, match="unknown kind"):
        table_of({"something": 1})
