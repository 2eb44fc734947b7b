"""The memory of an idle service is measured, by real processes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
_LINE = re.compile(r"^.*: ([\d,]+) MB \((.*)\)$", re.MULTILINE)


@pytest.mark.rotation
@pytest.mark.xdist_group("bench")
@pytest.mark.timeout(900)
def test_the_memory_of_each_kind_of_process_is_printed():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.idle_memory", "--problems", "1", "--rest", "0"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = _LINE.findall(done.stdout)
    assert len(lines) == 3
    for whole, parts in lines:
        mb = {name: int(each.replace(",", "")) for name, each in re.findall(r"(\w+) ([\d,]+)", parts)}
        assert set(mb) == {"service", "zygote", "forks", "others"}
        # Each part is rounded.
        assert abs(sum(mb.values()) - int(whole.replace(",", ""))) <= 4
        assert min(mb["service"], mb["forks"]) > 50
