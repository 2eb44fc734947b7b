"""`bench` measures a real service, and the soak a real sandbox: their figures come out, and nothing is told wrongly."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.queue.null import NullGrader
from benchmarks.call import percentile
from benchmarks.census import Census, take_census
from benchmarks.errors import BenchmarkFailed
from benchmarks.figures import KEYS, TARGETS
from benchmarks.mixture import Known, mixed
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


def test_more_of_anything_than_before_is_told_and_less_is_not():
    before = Census(descriptors=30, processes=9, threads=4, mounts=20, mount_namespaces=7, scratch=1, resident_mb=60.0)
    assert replace(before, processes=8, scratch=0, resident_mb=90.0).left_since(before) == []
    left = replace(before, descriptors=31, mount_namespaces=8).left_since(before)
    assert left == ["descriptors: 30 before, 31 now", "mount namespaces: 7 before, 8 now"]


def test_a_file_left_in_the_temporary_folder_is_counted(tmp_path):
    before = take_census(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "left").touch()
    with (tmp_path / "held").open("w"):
        after = take_census(tmp_path)
    assert (after.scratch - before.scratch, after.descriptors - before.descriptors) == (3, 1)


def test_the_soak_knows_a_right_verdict_from_a_wrong_one(package):
    verdict = NullGrader().judge(package, "def add_one(x): ...\n")
    assert (verdict.status, verdict.reason) == ("rejected", "wrong_value")
    for expected, fits in (
        ({("rejected", "wrong_value")}, True),
        ({("rejected", None)}, True),
        ({("accepted", None), ("rejected", "killed")}, False),
    ):
        assert Known("add_one/wrong", package, "", frozenset(expected)).fits(verdict) is fits


def test_the_soak_mixes_honest_and_hostile_in_turn():
    names = [known.name.partition("/")[0] for known in mixed(400)]
    assert len(names) == 400
    assert set(names[0::2]) == {"fsdp_step"}
    assert set(names[1::2]) == {"hostile"}
